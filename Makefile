# scd2: slowly changing dimensions in PostgreSQL
EXTENSION = scd2
MODULE_big = scd2
DATA = sql/scd2--1.0.sql

OBJS = \
	src/scd2.o \
	src/sqltext.o \
	src/spi.o \
	src/canonical.o \
	src/canonical_nested.o \
	src/canonical_text.o \
	src/keyform.o \
	src/hash.o \
	src/fold.o

SHLIB_LINK = -lxxhash
PG_CPPFLAGS = -I$(srcdir)/src
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS does not track headers
$(OBJS): $(wildcard $(srcdir)/src/*.h)
