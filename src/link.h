/*-------------------------------------------------------------------------
 *
 * link.h
 *	  Links: facts whose surrogate keys follow a dimension (SPEC section 8).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_LINK_H
#define SCD2_LINK_H

#include "storage/lockdefs.h"

#include "registry.h"

/* A key column of a fact. */
typedef struct Scd2LinkKey
{
	char	   *name;			/* now */
	Oid			typid;
	Oid			collation;
} Scd2LinkKey;

/* A link is one (fact, SK column). */
typedef struct Scd2Link
{
	int32		id;
	int32		dimension_id;
	Oid			dimension;
	Oid			fact;
	Oid			owner;			/* of the fact */
	char	   *sql_name;		/* of the fact: quoted, with its schema */
	char	   *sk_name;		/* names now */
	char	   *event_time;
	Oid			event_type;		/* date, timestamp or timestamptz */
	int			nkeys;
	Scd2LinkKey *keys;			/* in the order of the dimension's */
	bool		infer;
} Scd2Link;

/*
 * The links of a dimension, or of a fact, by id.  Those whose table or columns
 * are gone are left out.  In the current memory context; takes no lock.
 */
extern List *scd2_links_of_dimension(int32 dimension_id);
extern List *scd2_links_of_fact(Oid fact);

/*
 * The same with each fact locked, so that no DDL comes in between: the names are
 * as they are under the lock.
 */
extern List *scd2_links_open(int32 dimension_id, LOCKMODE lockmode);

/*
 * Until the end of the transaction nobody else re-keys these facts (a list of
 * OIDs), whichever dimension they follow.  All of their links are locked in the
 * order of ids, so that two that do so never wait for each other (R18); for that a
 * transaction's run has to name all its facts at once.
 */
extern void scd2_links_lock(const List *facts);

/*
 * Relations that a change of the facts may fire constraints of: the facts of a
 * dimension and their partitions.
 */
extern List *scd2_link_relations(int32 dimension_id);

/* Raise unless the current user has the role of a fact's owner: insufficient_privilege. */
extern void scd2_link_check_owner(Oid fact);

#endif							/* SCD2_LINK_H */
