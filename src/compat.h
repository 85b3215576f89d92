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

#endif							/* SCD2_COMPAT_H */
