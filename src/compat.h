/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  What differs between PostgreSQL 15 and 18, and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_COMPAT_H
#define SCD2_COMPAT_H

#include "postgres.h"

/* RelationGetPrimaryKeyIndex has to be told about deferrable keys from 18 on. */
#if PG_VERSION_NUM >= 180000
#define COMPAT_DEFERRABLE_OK	, true
#else
#define COMPAT_DEFERRABLE_OK
#endif

/* the layout of varlena values has a header of its own from 16 on */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* the backend of a virtual transaction id */
#if PG_VERSION_NUM >= 170000
#define COMPAT_VXID_BACKEND(vxid) ((vxid).procNumber)
#else
#define COMPAT_VXID_BACKEND(vxid) ((vxid).backendId)
#endif

/* a parallel operation allows no subtransaction before 17 */
#define COMPAT_NO_PARALLEL_TRY	(PG_VERSION_NUM < 170000)

/*
 * From utils/pg_locale.h, which is not included: with ICU it wants ICU's
 * headers, and PostgreSQL's packages do not bring them.
 */
extern PGDLLIMPORT char *locale_monetary;

#endif							/* SCD2_COMPAT_H */
