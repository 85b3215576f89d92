/*-------------------------------------------------------------------------
 *
 * ask.h
 *	  The frame of calls that ask a dimension and write nothing (SPEC section 7).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_ASK_H
#define SCD2_ASK_H

#include "registry.h"
#include "spi.h"

typedef struct Scd2Ask
{
	Scd2Dimension *dim;
	Scd2Rights	rights;
	Scd2Activity activity;
} Scd2Ask;

/*
 * Begin: SPI is connected, whose memory context everything goes to; the
 * dimension is loaded.  Runs as the caller, but in a security-restricted operation
 * with settings pinned and row security off, because a part of the rows would
 * deceive.  "why_log": with it, a log is needed (see scd2_check_has_log), and
 * locked.  Everything takes AccessShareLock at most, and no transaction id (R28).
 */
extern void scd2_ask_begin(Scd2Ask *ask, Oid relid, const char *why_log);
extern void scd2_ask_end(Scd2Ask *ask);

#endif							/* SCD2_ASK_H */
