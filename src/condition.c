/*-------------------------------------------------------------------------
 *
 * condition.c
 *	  A user's condition over a row, parsed as one boolean expression and never
 *	  pasted (R34).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "registry.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* What condition_callback says. */
typedef struct ConditionContext
{
	const char *what;
	const char *text;
} ConditionContext;

static void
condition_callback(void *arg)
{
	ConditionContext *context = (ConditionContext *) arg;

	/* a position within the condition is none within the caller's statement */
	if (geterrposition() > 0)
	{
		internalerrposition(geterrposition());
		internalerrquery(context->text);
		errposition(0);
	}
	errcontext("%s \"%s\"", context->what, context->text);
}

/*
 * The one expression that "text" is, or an error.  The grammar's start symbol
 * for PL/pgSQL expressions takes what may follow SELECT, so all of a SELECT but
 * its only column is refused.
 */
static Node *
parse_expression(const char *text, const char *what)
{
	List	   *trees = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *stmt;
	ResTarget  *target;

	if (list_length(trees) == 1)
	{
		stmt = (SelectStmt *) linitial_node(RawStmt, trees)->stmt;

		if (IsA(stmt, SelectStmt) &&
			list_length(stmt->targetList) == 1 &&
			stmt->distinctClause == NIL &&
			stmt->intoClause == NULL &&
			stmt->fromClause == NIL &&
			stmt->whereClause == NULL &&
			stmt->groupClause == NIL &&
			stmt->havingClause == NULL &&
			stmt->windowClause == NIL &&
			stmt->valuesLists == NIL &&
			stmt->sortClause == NIL &&
			stmt->limitOffset == NULL &&
			stmt->limitCount == NULL &&
			stmt->lockingClause == NIL &&
			stmt->withClause == NULL &&
			stmt->op == SETOP_NONE)
		{
			target = linitial_node(ResTarget, stmt->targetList);
			if (target->name == NULL && target->indirection == NIL &&
				!(IsA(target->val, ColumnRef) &&
				  IsA(llast(((ColumnRef *) target->val)->fields), A_Star)))
				return target->val;
		}
	}

	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("%s is not a single expression", what),
			 errhint("Give one boolean expression over the columns of a row, such as op = 'D'.")));
	return NULL;				/* keep compiler quiet */
}

/*
 * Only plain columns can be read: scd2 hands rows around in other forms than
 * the relation's own.
 */
static void
check_columns(Node *expr, const char *what)
{
	List	   *vars = pull_var_clause(expr, 0);
	ListCell   *cell;

	foreach(cell, vars)
	{
		Var		   *var = lfirst_node(Var, cell);

		if (var->varattno == 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot use a whole row in %s", what),
					 errhint("Name its columns.")));
		if (var->varattno < 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot use a system column in %s", what)));
	}
}

/*
 * Parse a condition; see registry.h.  "columns", unless NULL, gets the numbers
 * of the columns it reads, in ascending order.
 */
char *
scd2_parse_condition_columns(const char *text, Oid relid, const char *alias,
							 const char *what, List **columns)
{
	Relation	rel = table_open(relid, AccessShareLock);
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *nsitem;
	Node	   *expr;
	char	   *result;
	int			guc_level;
	ConditionContext context;
	ErrorContextCallback callback;

	context.what = what;
	context.text = text;
	callback.callback = condition_callback;
	callback.arg = &context;
	callback.previous = error_context_stack;
	error_context_stack = &callback;

	pstate->p_sourcetext = text;
	nsitem = addRangeTableEntryForRelation(pstate, rel, AccessShareLock,
										   NULL, false, true);
	addNSItemToQuery(pstate, nsitem, false, true, true);

	/* WHERE's rules: no aggregate, window or set-returning function */
	expr = transformExpr(pstate, parse_expression(text, what), EXPR_KIND_WHERE);
	if (pstate->p_hasSubLinks)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use a subquery in %s", what),
				 errhint("Put it into a view or a function.")));
	expr = coerce_to_boolean(pstate, expr, what);
	assign_expr_collations(pstate, expr);
	check_columns(expr, what);

	if (columns != NULL)
	{
		List	   *vars = pull_var_clause(expr, 0);
		ListCell   *cell;

		*columns = NIL;
		foreach(cell, vars)
			*columns = list_append_unique_int(*columns,
											  lfirst_node(Var, cell)->varattno);
		list_sort(*columns, list_int_cmp);
	}

	/* deparse so that it means the same in every session */
	guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	(void) set_config_option("DateStyle", "ISO, YMD",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	(void) set_config_option("IntervalStyle", "postgres",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	(void) set_config_option("extra_float_digits", "1",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	result = deparse_expression(expr,
								deparse_context_for(alias != NULL ? alias :
													RelationGetRelationName(rel), relid),
								alias != NULL, false);
	AtEOXact_GUC(false, guc_level);

	error_context_stack = callback.previous;
	free_parsestate(pstate);
	table_close(rel, AccessShareLock);

	return result;
}

/*
 * Parse a condition; see registry.h.
 */
char *
scd2_parse_condition(const char *text, Oid relid, const char *alias,
					 const char *what)
{
	return scd2_parse_condition_columns(text, relid, alias, what, NULL);
}
