# sbxrun. `make help` lists the targets; `make run` and `make check` do all the set-up they need.

VERSION   := 0.1.0
PREFIX    ?= /usr/local
BINDIR    ?= $(PREFIX)/bin
MANDIR    ?= $(PREFIX)/share/man
COMPDIR   ?= $(PREFIX)/share/bash-completion/completions
DESTDIR   ?=
CC        ?= gcc
B         ?= build
COMMIT    := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
is_clang  := $(shell $(CC) --version 2>/dev/null | grep -c clang)

WARN := -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wwrite-strings -Wundef -Wvla -Wimplicit-fallthrough -Wconversion -Wsign-conversion \
	-Wcast-qual -Wnull-dereference -Wno-missing-field-initializers
ifeq ($(is_clang),0)
WARN += -Wlogical-op -Wduplicated-cond -Wduplicated-branches
HARDEN_INIT := -ftrivial-auto-var-init=zero
else
HARDEN_INIT := -ftrivial-auto-var-init=pattern
endif
ifdef WERROR
WARN += -Werror
endif
ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
CFI_x86_64 := -fcf-protection=full
CFI_aarch64 := -mbranch-protection=standard
HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection $(CFI_$(ARCH)) \
	$(HARDEN_INIT) -fno-common -fno-strict-aliasing -fvisibility=hidden
OPT    ?= -O2 -g
CFLAGS ?=
LDFLAGS ?=
ALL_CFLAGS = -std=gnu17 $(OPT) $(WARN) $(if $(SANITIZE),$(SANITIZE),$(HARDEN)) -D_GNU_SOURCE -Iruntime \
	-ffunction-sections -fdata-sections $(CFLAGS)
# Static: a start of the dynamic loader costs more than the rest of most verbs (PERFORMANCE in HACKING.md).
LINK = $(if $(SANITIZE),$(SANITIZE),-static-pie -Wl,-z,relro,-z,now,-z,noexecstack,--gc-sections) $(LDFLAGS)
LIBS ?= -lseccomp -lyajl_s -lcap -lm

SRC := $(wildcard runtime/*/*.c)
OBJ := $(SRC:%.c=$(B)/%.o)
LIBOBJ := $(filter-out $(B)/runtime/cli/main.o,$(OBJ))
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
MAN := $(patsubst runtime/man/%.md,$(B)/man/%,$(wildcard runtime/man/*.md))

all: $(B)/sbxrun man ## build the program and its manual

Q := $(if $(V),,@)

$(B)/sbxrun: $(OBJ)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LINK) -o $@ $(OBJ) $(LIBS)

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(ALL_CFLAGS) -fPIE -MMD -MP -c -o $@ $<

$(B)/runtime/cli/version.o: CFLAGS += -DSBXRUN_VERSION='"$(VERSION)"' -DSBXRUN_COMMIT='"$(COMMIT)"'

$(B)/unit/%: tests/unit/%.c tests/unit/unit.h $(LIBOBJ)
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(ALL_CFLAGS) -fPIE -Itests/unit -MMD -MP $(LINK) -o $@ $< $(LIBOBJ) $(LIBS)

-include $(OBJ:.o=.d) $(UNIT:=.d)

man: $(MAN)

$(B)/man/%: runtime/man/%.md
	@mkdir -p $(@D)
	$(Q)if command -v go-md2man >/dev/null; then go-md2man -in $< -out $@; else cp $< $@; fi

unit: $(UNIT) ## build the unit tests

clean: ## remove what was built
	rm -rf $(B)

.PHONY: all unit man clean
