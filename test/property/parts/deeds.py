"""What else happens to a dimension than batches, for test/property/parts/apply.

Each deed is a step of a history as a batch is, and refers to batches by name, so
that any of them can be left out when a history that fails is made smaller.  What
they do and what must be true after them is in deeds.sql.
"""
import copy
import json


class Deed:
    rows = ()           # as a batch's

    def plain_sql(self):
        """For a reader."""
        raise NotImplementedError

    def test_sql(self, schema):
        """With an answer for each disagreement."""
        raise NotImplementedError


class Undo(Deed):
    """Undo what a batch did (R27); refused where it is not the last, and has to be."""

    def __init__(self, of):
        self.of = of

    def plain_sql(self):
        return "CALL scd2.undo('h.dim', :run_%d);" % self.of

    def test_sql(self, schema):
        return "SELECT oracle.undo_step('%s', %d);" % (schema, self.of)


class Damage(Deed):
    """Write to the dimension's tables; scd2.check sees it, rebuild_apply heals it (R25, R32)."""

    def __init__(self, rnd):
        self.picks = [rnd.randrange(10 ** 6) for _ in range(rnd.choice([1, 1, 2, 4]))]

    def plain_sql(self):
        return "-- oracle.hurt %s\nCALL scd2.rebuild_apply('h.dim');" % self.picks

    def test_sql(self, schema):
        return "SELECT oracle.damage('%s', %s);" % (schema, ", ".join(map(str, self.picks)))


class Retry(Deed):
    """Repair some of the rejected rows and apply them (R19)."""

    def __init__(self, name, repairs):
        self.name = name
        self.repairs = repairs

    def plain_sql(self):
        return "-- rejected rows get, in turn, %s\nCALL scd2.retry_rejected('h.dim');\n%s" % (
            ", ".join(self.repairs), "SELECT scd2.last_run() AS run_%d \\gset" % self.name)

    def test_sql(self, schema):
        return "SELECT oracle.retry('%s', %d, %s);" % (
            schema, self.name, ", ".join("'%s'" % r.replace("'", "''") for r in self.repairs))


def options(rnd, late, change_log):
    """on_bad_row, on_late, and whether there are bad rows."""
    on_bad_row = "quarantine" if rnd.random() < 0.25 else "error"
    on_late = None
    if change_log and rnd.random() < (0.25 if late else 0.08):
        on_late = rnd.choice(["skip", "error"])
    return on_bad_row, on_late, rnd.random() < (0.8 if on_bad_row == "quarantine" else 0.04)


def spoil(rnd, dim, rows, other_values, time):
    """Put bad rows into those of a batch (R19); whether they are, the oracle says."""
    nkeys, nattrs = len(dim.keys), len(dim.attrs)
    place = nkeys + nattrs              # of the time, then of sequence_by
    for _ in range(rnd.choice([1, 1, 2])):
        if not rows:
            return
        which = rnd.randrange(len(rows))
        row = list(rows[which])
        kinds = ["key", "clash", "clash"]
        if dim.effective_type:
            kinds += ["time", "time", "other"]
        if dim.seq:
            kinds.append("sequence")
        what = rnd.choice(kinds)
        if what == "key":
            row[rnd.randrange(nkeys)] = None
        elif what == "time":
            row[place] = rnd.choice([None, "infinity", "-infinity", "1800-01-01", "9999-12-31",
                                     "9999-12-30 21:00", "9999-12-30"])
        elif what == "sequence":
            row[place + bool(dim.effective_type) + rnd.randrange(len(dim.seq))] = None
        else:
            row[nkeys:place] = other_values()
            if what == "other":
                row[place] = time(rnd.randrange(12))
        if what == "time" and dim.mode == "snapshot":
            rows[which] = row           # a key comes once
        else:
            rows.insert(rnd.randrange(len(rows) + 1), row)


def repairs(rnd, dim, keys, time):
    """What rejected rows may get, as jsonb."""
    result = []
    for _ in range(rnd.choice([1, 2, 3])):
        values = {}
        if rnd.random() < 0.8:
            values.update(zip([name for name, _ in dim.keys], rnd.choice(keys)))
            values["at"] = time(rnd.randrange(12)).isoformat(" ")
            values.update((name, rnd.randrange(3)) for name in dim.seq)
        result.append(json.dumps(values, ensure_ascii=False))
    return result


def add(rnd, dim, batches, keys, time):
    """Put deeds among the batches, which have their place as name."""
    for place, batch in enumerate(batches):
        batch.name = place
    if not dim.change_log or not batches:
        return batches
    steps = list(batches)
    if rnd.random() < 0.3:
        steps = undone(rnd, dim, steps)
    if (dim.spoiled and dim.on_bad_row == "quarantine" and dim.mode == "delta" and dim.effective_type
            and not dim.on_late and rnd.random() < 0.8):
        for n in range(rnd.choice([1, 1, 2])):
            retry = Retry(1000 + n, repairs(rnd, dim, keys, time))
            steps.insert(rnd.randrange(len(steps) // 2, len(steps)) + 1, retry)
            if rnd.random() < 0.3:
                steps.append(Undo(retry.name))
    if rnd.random() < 0.15:
        steps.insert(rnd.randrange(1, len(steps) + 1), Damage(rnd))
    return steps


def undone(rnd, dim, steps):
    """Undo some batches, and apply some of these again, at once or later."""
    # in these modes a run is compared with what was known before, and only the last is undone
    last_only = (dim.mode == "snapshot") == bool(dim.effective_type)
    for n in range(rnd.choice([1, 1, 2, 3])):
        place = rnd.randrange(1, len(steps) + 1)
        before = [s for s in steps[:place] if not isinstance(s, Deed)]
        batch = before[-1] if last_only and rnd.random() < 0.8 else rnd.choice(before)
        steps.insert(place, Undo(batch.name))
        if rnd.random() < 0.6 and not (last_only and batch is not before[-1]):
            repeated = copy.copy(batch)
            repeated.again = False
            repeated.name = 100 + n
            steps.insert(place + 1 if last_only else rnd.randrange(place + 1, len(steps) + 1), repeated)
    # nothing is written again only by what comes right after its like
    seen = False
    for place, step in enumerate(steps):
        seen = seen or isinstance(step, Undo)
        if seen and not isinstance(step, Deed) and step.again:
            like = steps[place - 1]
            if isinstance(like, Deed) or (like.rows, like.at, like.scope) != (step.rows, step.at, step.scope):
                step.again = False
    return steps
