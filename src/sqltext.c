/*-------------------------------------------------------------------------
 *
 * sqltext.c
 *	  Building SQL text: quoting, names of relations.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "sqltext.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*
 * Quoted schema.name of a relation as it is called now.
 */
char *
scd2_relation_name(Oid relid)
{
	char	   *name = get_rel_name(relid);
	char	   *schema;

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	schema = get_namespace_name(get_rel_namespace(relid));
	if (schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("schema of relation \"%s\" does not exist", name)));
	return quote_qualified_identifier(schema, name);
}

/*
 * Append a quoted identifier, with "prefix." before it unless that is NULL.
 */
void
scd2_append_ident(StringInfo buf, const char *prefix, const char *ident)
{
	if (prefix != NULL)
		appendStringInfo(buf, "%s.", prefix);
	appendStringInfoString(buf, quote_identifier(ident));
}
