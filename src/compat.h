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

#endif							/* SCD2_COMPAT_H */
