/*-------------------------------------------------------------------------
 *
 * keyform.h
 *	  How a surrogate key hashes a column whose type changed (R13).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_KEYFORM_H
#define SCD2_KEYFORM_H

#include "canonical.h"

/* A column of a surrogate key. */
typedef struct Scd2KeyColumn
{
	Scd2CanonType *type;		/* as it is now */
	Scd2CanonType *registered;	/* as it is hashed; may be the same */
} Scd2KeyColumn;

/* How a key column's value enters the hash. */
typedef enum Scd2KeyForm
{
	FORM_AS_IS,					/* by its type now */
	FORM_REGISTERED,			/* converted to the registered type */
	FORM_TEXT					/* by its canonical text */
} Scd2KeyForm;

/*
 * Decide how a value of a column whose type has changed since registration is
 * hashed: as what it was before the change, where a value of the registered
 * type is converted to exactly this one.  Sets "converted" for FORM_REGISTERED
 * and leaves the text in "text", UTF-8, for FORM_TEXT.  Allocates in the current
 * memory context.
 */
extern Scd2KeyForm scd2_key_form(Scd2KeyColumn *column, Datum value,
								 Datum *converted, StringInfo text);

#endif							/* SCD2_KEYFORM_H */
