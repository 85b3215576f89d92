/*-------------------------------------------------------------------------
 *
 * sqltext.h
 *	  Building SQL text: quoting, names of relations.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_SQLTEXT_H
#define SCD2_SQLTEXT_H

#include "lib/stringinfo.h"

/* Quoted schema.name of a relation as it is called now; palloc'd.  Error if gone. */
extern char *scd2_relation_name(Oid relid);

/* An operator with its schema, as an expression takes it; palloc'd. */
extern char *scd2_operator_name(Oid operator);

/* Append a quoted identifier, with "prefix." before it unless prefix is NULL. */
extern void scd2_append_ident(StringInfo buf, const char *prefix, const char *ident);

#endif							/* SCD2_SQLTEXT_H */
