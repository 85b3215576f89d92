/*-------------------------------------------------------------------------
 *
 * scd2.h
 *	  The few things that everybody shares: settings and file-wide constants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_H
#define SCD2_H

#include "compat.h"

/* scd2.notice: say what a run counted in a NOTICE (R21). */
extern bool scd2_notice;

#endif							/* SCD2_H */
