/*-------------------------------------------------------------------------
 *
 * rights.c
 *	  Who may, and as whom: ownership checks and the switches to the rights of
 *	  a dimension's owner and of the registry's owner (R34).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "registry.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Settings that change what generated SQL reads, writes or means. */
static const struct
{
	const char *name;
	const char *value;
}			pinned_settings[] =
{
	{"search_path", "pg_catalog, pg_temp"},
	{"TimeZone", "UTC"},
	{"DateStyle", "ISO, YMD"},
	{"IntervalStyle", "postgres"},
	{"bytea_output", "hex"},
	{"extra_float_digits", "1"},
	{"lc_monetary", "C"},
	{"xmlbinary", "base64"},
	{"xmloption", "content"},
	{"array_nulls", "on"},
	{"standard_conforming_strings", "on"},
	{"transform_null_equals", "off"},
	/* compiling a statement that runs once costs more than it saves */
	{"jit", "off"},
	/* row security raises instead of hiding rows */
	{"row_security", "off"},
};

static void
pin_setting(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Owner of a relation.
 */
Oid
scd2_relation_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);

	return owner;
}

/*
 * Run as "owner" from here on, as REFRESH MATERIALIZED VIEW does: in a
 * security-restricted operation, under a search_path that only superusers
 * control and under the settings on which output depends.
 */
void
scd2_rights_enter(Oid owner, Scd2Rights *save)
{
	GetUserIdAndSecContext(&save->userid, &save->sec_context);
	SetUserIdAndSecContext(owner,
						   save->sec_context | SECURITY_RESTRICTED_OPERATION);
	save->guc_level = NewGUCNestLevel();
	for (int i = 0; i < lengthof(pinned_settings); i++)
		pin_setting(pinned_settings[i].name, pinned_settings[i].value);
}

/*
 * Back to the rights and settings before.
 */
void
scd2_rights_leave(const Scd2Rights *save)
{
	AtEOXact_GUC(false, save->guc_level);
	SetUserIdAndSecContext(save->userid, save->sec_context);
}

/*
 * Pin the settings, search_path among them, without changing rights: for
 * statements that the caller himself is to run.
 */
void
scd2_settings_enter(Scd2Rights *save)
{
	GetUserIdAndSecContext(&save->userid, &save->sec_context);
	save->guc_level = NewGUCNestLevel();
	for (int i = 0; i < lengthof(pinned_settings); i++)
	{
		/* DDL of the caller is none of row security's business */
		if (strcmp(pinned_settings[i].name, "row_security") != 0)
			pin_setting(pinned_settings[i].name, pinned_settings[i].value);
	}
}

/*
 * Run as the owner of the registry's tables, for scd2's own statements over
 * them alone: nothing of a user's may run in between.
 */
void
scd2_registry_enter(Scd2Rights *save)
{
	Oid			relid = get_relname_relid("registry_dimension",
										  get_namespace_oid("scd2", false));

	if (!OidIsValid(relid))
		elog(ERROR, "table scd2.registry_dimension does not exist");

	GetUserIdAndSecContext(&save->userid, &save->sec_context);
	SetUserIdAndSecContext(scd2_relation_owner(relid),
						   save->sec_context | SECURITY_LOCAL_USERID_CHANGE);
	save->guc_level = NewGUCNestLevel();
	pin_setting("search_path", "pg_catalog, pg_temp");
	pin_setting("jit", "off");
}

/*
 * Raise unless the current user has the rights of the owner of "relid".
 */
void
scd2_check_relation_owner(Oid relid)
{
	Oid			owner = scd2_relation_owner(relid);

	if (!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dimension \"%s.%s\"",
						get_namespace_name(get_rel_namespace(relid)),
						get_rel_name(relid)),
				 errdetail("It belongs to role \"%s\".",
						   GetUserNameFromId(owner, true)),
				 errhint("Call as that role or as a member of it.")));
}

/*
 * The same for a dimension that was loaded.
 */
void
scd2_registry_check_owner(Scd2Dimension *dim)
{
	scd2_check_relation_owner(dim->relid);
}

/*
 * Raise unless the current user sees the dimension in the view scd2.dimensions;
 * see registry.h.
 */
void
scd2_registry_check_seen(const Scd2Dimension *dim)
{
	Oid			userid = GetUserId();
	AclMode		column_rights = ACL_SELECT | ACL_INSERT | ACL_UPDATE | ACL_REFERENCES;
	AclMode		rights = column_rights | ACL_DELETE | ACL_TRUNCATE | ACL_TRIGGER;

	if (has_privs_of_role(userid, dim->owner) ||
		pg_class_aclmask(dim->relid, userid, rights, ACLMASK_ANY) != 0 ||
		pg_attribute_aclcheck_all(dim->relid, userid, column_rights,
								  ACLMASK_ANY) == ACLCHECK_OK)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for dimension \"%s\"", dim->label),
			 errhint("Who has its owner's role, or a privilege on it, may see its definition.")));
}
