# scd2: slowly changing dimensions in PostgreSQL

EXTENSION = scd2
MODULE_big = scd2
DATA = $(wildcard sql/scd2--*.sql)

OBJS = \
	src/apply.o \
	src/ask.o \
	src/ask_plan.o \
	src/badrow.o \
	src/batch.o \
	src/canonical.o \
	src/canonical_nested.o \
	src/canonical_text.o \
	src/chain.o \
	src/changes.o \
	src/check.o \
	src/check_log.o \
	src/check_plan.o \
	src/classify.o \
	src/classify_rows.o \
	src/condition.o \
	src/convert.o \
	src/define.o \
	src/derived.o \
	src/diff.o \
	src/drift.o \
	src/emit.o \
	src/feed.o \
	src/fingerprint.o \
	src/fold.o \
	src/follow.o \
	src/gain.o \
	src/hash.o \
	src/history.o \
	src/keyarg.o \
	src/keyform.o \
	src/keyset.o \
	src/late.o \
	src/logpos.o \
	src/lookup.o \
	src/meddle.o \
	src/names.o \
	src/options.o \
	src/options_json.o \
	src/period.o \
	src/plan.o \
	src/plan_chain.o \
	src/plan_history.o \
	src/plan_late.o \
	src/plan_read.o \
	src/plan_replay.o \
	src/plan_verify.o \
	src/preview.o \
	src/progress.o \
	src/quarantine.o \
	src/read.o \
	src/rebuild.o \
	src/registry.o \
	src/remove.o \
	src/report.o \
	src/retry.o \
	src/rights.o \
	src/run.o \
	src/runs.o \
	src/scan.o \
	src/scd2.o \
	src/shape.o \
	src/shown.o \
	src/spi.o \
	src/sqltext.o \
	src/stage.o \
	src/states.o \
	src/timeaxis.o \
	src/timeline.o \
	src/timeline_svg.o \
	src/timeline_text.o \
	src/undo.o \
	src/versionrow.o \
	src/why.o \
	src/write.o

SHLIB_LINK = -lxxhash
PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

# For "make installcheck" against a running server.  PostgreSQL 15 looks for
# expected/ in the output directory, later ones in the current one.
REGRESS = $(patsubst test/sql/%.sql,%,$(wildcard test/sql/*.sql))
REGRESS_OPTS = --inputdir=test --outputdir=tmp_check --load-extension=scd2
ISOLATION = $(patsubst test/specs/%.spec,%,$(wildcard test/specs/*.spec))
ISOLATION_OPTS = $(REGRESS_OPTS)
EXTRA_CLEAN = tmp_check

# A machine that has no PostgreSQL yet can still "make demo" and "make test":
# these install what they need.
PG_CONFIG ?= pg_config
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))
ifneq ($(PGXS),)
include $(PGXS)
else
all install installcheck clean:
	@echo "make $@ needs PostgreSQL's server headers, and found none with PG_CONFIG=$(PG_CONFIG)." >&2
	@echo "On Debian: apt-get install postgresql-server-dev-all libxxhash-dev" >&2
	@exit 1
endif

# PGXS does not track headers.
$(OBJS): $(wildcard $(srcdir)/src/*.h)

installcheck: tmp_check/expected
tmp_check/expected:
	mkdir -p tmp_check
	ln -sfn ../expected tmp_check/expected

# The targets below need no PGXS.  Each builds a copy of the tree in a scratch
# directory and runs there, against a server of its own: the machine stays as
# it is, save for Debian packages that were missing.
export PG_CONFIG

demo:
	@test/server demo/run

# make test TESTS="golden regress" runs these parts only.
test:
	@test/server test/run $(TESTS)

# The same on PostgreSQL 17 and 18, in chroots of Debian releases that have them.
test-versions:
	@test/versions $(VERSIONS)

# Kills and cancels at random moments, 30 of each, or: make crash CRASHES=1000
crash:
	@SCD2_CRASHES=$(or $(CRASHES),30) TEST_TIMEOUT=86400 test/server test/run crash

# Random histories against the oracle, 1100 in order and 1100 in any order, or:
# make property HISTORIES=10000 SEED=1
property:
	@SCD2_HISTORIES=$(HISTORIES) SCD2_SEED=$(SEED) TEST_TIMEOUT=86400 test/server test/run property

bench:
	@CONF='autovacuum = off' test/server bench/run $(BENCH)

# What pgindent does, nearly (needs clang-format).
format:
	@tools/format src/*.c src/*.h

.PHONY: demo test test-versions crash property bench format
