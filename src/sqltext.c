/*-------------------------------------------------------------------------
 *
 * sqltext.c
 *	  Building SQL text: quoting, names of relations.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "sqltext.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

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
 * An operator with its schema: OPERATOR(pg_catalog.=).
 */
char *
scd2_operator_name(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
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
