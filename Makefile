# sbxrun. `make help` lists the targets; `make run` and `make check` install what they need (Debian, as root).

VERSION := 0.1.0
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions
# Where the parts of sbxrun-rootfs are installed; the command is a link to one of them.
ROOTFSDIR ?= $(PREFIX)/share/sbxrun/rootfs-tools
DESTDIR ?=
B       ?= build
# What is built, "COMMIT SECONDS": git knows in a clone, a file says so in an archive that `make dist` made.
# Somebody else's clone (a checkout by another user) is read as well.
SOURCE  := $(shell cat .tarball-commit 2>/dev/null || { [ ! -e .git ] || { \
	git -c safe.directory='*' describe --always --abbrev=12 --exclude='*' --dirty && \
	git -c safe.directory='*' log -1 --format=%ct; }; } 2>/dev/null)
COMMIT  := $(or $(word 1,$(SOURCE)),unknown)
EPOCH   := $(or $(word 2,$(SOURCE)),$(shell stat -c %Y CHANGELOG.md 2>/dev/null))
Q       := $(if $(V),,@)

# ---- flags ----

is_clang := $(shell $(CC) --version 2>/dev/null | grep -c clang)
ARCH     := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1)

WARN := -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wwrite-strings -Wundef -Wvla -Wimplicit-fallthrough -Wconversion -Wsign-conversion \
	-Wcast-qual -Wnull-dereference -Wno-missing-field-initializers
ifeq ($(is_clang),0)
WARN += -Wlogical-op -Wduplicated-cond -Wduplicated-branches
INIT := -ftrivial-auto-var-init=zero
else
INIT := -ftrivial-auto-var-init=pattern
endif
ifdef WERROR
WARN += -Werror
endif
CFI_x86_64  := -fcf-protection=full
CFI_aarch64 := -mbranch-protection=standard
HARDEN := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection $(CFI_$(ARCH)) \
	$(INIT) -fno-common -fno-strict-aliasing -fvisibility=hidden

# Nobody unwinds a program in C but a debugger, which has its own tables: these would only be mapped.
HARDEN += -fno-asynchronous-unwind-tables -fno-unwind-tables

# Small before fast: nearly all of a run is the kernel's, and what a verb maps and faults in is its code.
OPT        ?= -Os -g
# The same bytes wherever it is built: debug information names no directory of this machine.
ALL_CFLAGS  = -std=gnu17 $(OPT) -ffile-prefix-map=$(CURDIR)=. $(WARN) $(if $(SANITIZE),$(SANITIZE),$(HARDEN)) -D_GNU_SOURCE \
	-Iruntime -fPIE -ffunction-sections -fdata-sections $(CFLAGS)
# Static, because the dynamic loader costs more than the rest of most verbs (runtime/HACKING.md).
# Libraries that need NSS, iconv or dlopen warn at link time; that is an error here.
LINK = $(if $(SANITIZE),$(SANITIZE),-static-pie \
	-Wl,-z,relro,-z,now,-z,noexecstack,--gc-sections,--fatal-warnings) $(LDFLAGS)
# A program's first instruction is our own (runtime/sys/early.c), where we have written it.
ENTRY_x86_64  := -Wl,-e,early_start
ENTRY_aarch64 := -Wl,-e,early_start
ENTRY = $(if $(SANITIZE),,$(ENTRY_$(ARCH)))
LIBS ?= -l:libseccomp.a -l:libyajl_s.a -l:libcap.a -l:libpcre2-8.a -lm

# ---- what is built ----

# The library is every room below the programs (runtime/README.md, "Directories").
LIB_ROOMS := base sys egress json oci worker filter plan policy ns cgroup rootfs security state learn init life
# The programs, each with the rooms that are its own and those of the library that may end up in it.
# tests/builds/programs looks into the linked files.
PROGRAMS         := sbxrun sbxrun-net
OWN_sbxrun       := cli doctor setup box approve mcp
ROOMS_sbxrun     := $(LIB_ROOMS)
# It faces the network. sbxrun has its file inside, as data, and starts it as somebody without rights.
OWN_sbxrun-net   := net
ROOMS_sbxrun-net := base sys egress
POLICY_LINKS := sbxrun-oci sbxrun-code

sources = $(sort $(wildcard $(patsubst %,runtime/%/*.c,$(1))))
objects = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))

SRC    := $(filter-out runtime/reaper/%,$(wildcard runtime/*/*.c))
LIBOBJ := $(call objects,$(LIB_ROOMS))
# What a program keeps to itself but for main() is tested like the library.
OWNOBJ := $(foreach p,$(PROGRAMS),$(filter-out %/main.o,$(call objects,$(OWN_$(p)))))
UNIT_SHARED := $(patsubst %.c,$(B)/%.o,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
UNIT   := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
MAN    := $(patsubst runtime/man/%.md,$(B)/man/%,$(wildcard runtime/man/*.md))
ROOTFS_TOOLS := $(wildcard $(addprefix rootfs-tools/,sbxrun-rootfs *.sh *.json lib/*.sh lib/*.py recipes/* recipes/.base))

all: $(PROGRAMS:%=$(B)/%) $(POLICY_LINKS:%=$(B)/%) $(MAN) ## build the program and its manual

# The name that it is called by chooses a policy: for callers that pass no arguments.
$(POLICY_LINKS:%=$(B)/%): $(B)/sbxrun
	$(Q)ln -f $< $@

$(B)/libsbxrun.a: $(LIBOBJ)
	@echo "  AR   $@"
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(LIBOBJ)

$(foreach p,$(PROGRAMS),$(eval $(B)/$(p): $(call objects,$(OWN_$(p))) $(B)/libsbxrun.a))
$(PROGRAMS:%=$(B)/%):
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LINK) $(if $(filter sbxrun,$(@F)),$(ENTRY)) -o $@ $^ $(LIBS)

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The first process of a box: a program without a C library, which init/reaper.c has inside. It starts in a tenth of the time.
REAPER_CFLAGS := -std=gnu17 -Os $(WARN) -D_GNU_SOURCE -Iruntime -ffreestanding -fno-pic -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables \
	-fcf-protection=none -fno-builtin -ffile-prefix-map=$(CURDIR)=.
ifneq ($(ARCH),x86_64)
REAPER_CFLAGS := $(filter-out -fcf-protection=none,$(REAPER_CFLAGS))
endif
$(B)/reaper: runtime/reaper/reaper.c runtime/reaper/order.h Makefile
	@mkdir -p $(@D)
	@echo "  LINK $@"
	$(Q)$(CC) $(REAPER_CFLAGS) -nostdlib -static $(if $(filter 0,$(is_clang)),-no-pie) -Wl,-z,noexecstack,-z,noseparate-code,--build-id=none -s -o $@ $<

$(B)/runtime/init/reaper.o: $(B)/reaper
$(B)/runtime/init/reaper.o: override CFLAGS += -DREAPER_FILE='"$(B)/reaper"'

# The program that carries a box's connections, which box/network.c has inside.
STRIP := $(shell $(CC) -print-prog-name=strip 2>/dev/null)
$(B)/sbxrun-net.image: $(B)/sbxrun-net
	$(Q)$(STRIP) -o $@ $<

$(B)/runtime/box/network_image.o: $(B)/sbxrun-net.image
$(B)/runtime/box/network_image.o: override CFLAGS += -DNETWORK_FILE='"$(B)/sbxrun-net.image"'

# What sessions of a language run, which box/session_driver.c has inside.
$(B)/runtime/box/session_driver.o: $(wildcard runtime/box/drivers/*)

# Version and commit are no files: this one changes when they do.
$(B)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' >$@

$(B)/runtime/cli/version.o: $(B)/version
$(B)/runtime/cli/version.o: override CFLAGS += -DSBXRUN_VERSION='"$(VERSION)"' -DSBXRUN_COMMIT='"$(COMMIT)"'

# It runs before there is a C library, and before relocations.
EARLY := -ffreestanding -fno-stack-protector -fno-sanitize=all -ftrivial-auto-var-init=uninitialized \
	$(if $(filter 0,$(is_clang)),-fno-tree-loop-distribute-patterns)
$(B)/runtime/sys/early.o: override CFLAGS += $(EARLY)

$(B)/unit/%: tests/unit/%.c tests/unit/unit.h $(UNIT_SHARED) $(OWNOBJ) $(B)/libsbxrun.a
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP $(LINK) -o $@ $< $(UNIT_SHARED) $(OWNOBJ) $(B)/libsbxrun.a $(LIBS)

$(B)/man/%: runtime/man/%.md
	@mkdir -p $(@D)
	@echo "  MAN  $@"
	$(Q)go-md2man -in $< -out $@

# A program of the tests that has what a server may have: the rooms of CLIENT_ROOMS, and no others of the library.
CLIENT_ROOMS := base sys json oci worker
$(B)/tests/server: tests/tools/server.c $(B)/libsbxrun.a
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(LINK) -o $@ $< $(B)/libsbxrun.a $(LIBS)

# One that writes audit files, for what is done to them afterwards.
$(B)/tests/audit-append: tests/tools/audit-append.c $(OWNOBJ) $(B)/libsbxrun.a
	@mkdir -p $(@D)
	@echo "  TEST $@"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP $(LINK) -o $@ $< $(OWNOBJ) $(B)/libsbxrun.a $(LIBS)

unit: $(UNIT) $(B)/tests/server $(B)/tests/audit-append ## build the unit tests

.SECONDARY: $(UNIT_SHARED)

-include $(SRC:%.c=$(B)/%.d) $(UNIT_SHARED:.o=.d) $(UNIT:=.d) $(B)/tests/server.d $(B)/tests/audit-append.d

# ---- for people ----

run: deps ## fresh machine: install what is missing, build, run a python program in a box and show what happens
	@spec/install-deps rootfs
	@$(MAKE) --no-print-directory all
	@spec/run-example $(B)/sbxrun

install: all ## install programs, manual and bash completion below PREFIX (and DESTDIR)
	install -D -m 755 $(B)/sbxrun $(DESTDIR)$(BINDIR)/sbxrun
	for link in $(POLICY_LINKS); do ln -sf sbxrun $(DESTDIR)$(BINDIR)/$$link || exit 1; done
	for link in $(POLICY_LINKS); do install -d $(DESTDIR)$(MANDIR)/man8 && echo .so man8/sbxrun.8 >$(DESTDIR)$(MANDIR)/man8/$$link.8 || exit 1; done
	for page in $(MAN); do install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	install -D -m 644 runtime/cli/completion.bash $(DESTDIR)$(COMPDIR)/sbxrun
	for file in $(ROOTFS_TOOLS); do install -D -m 644 $$file $(DESTDIR)$(ROOTFSDIR)/$${file#rootfs-tools/} || exit 1; done
	chmod 755 $(DESTDIR)$(ROOTFSDIR)/sbxrun-rootfs
	ln -sfr $(DESTDIR)$(ROOTFSDIR)/sbxrun-rootfs $(DESTDIR)$(BINDIR)/sbxrun-rootfs

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(BINDIR)/sbxrun $(POLICY_LINKS:%=$(DESTDIR)$(BINDIR)/%) $(POLICY_LINKS:%=$(DESTDIR)$(MANDIR)/man8/%.8) $(DESTDIR)$(COMPDIR)/sbxrun
	for page in $(MAN); do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	rm -f $(DESTDIR)$(BINDIR)/sbxrun-rootfs
	rm -rf $(DESTDIR)$(ROOTFSDIR)

deb: all ## a Debian package in build/ (needs dpkg-dev)
	@VERSION=$(VERSION) EPOCH=$(EPOCH) CC="$(CC)" LIBS="$(LIBS)" MAKE="$(MAKE)" spec/debian/build $(B)

dist: ## the source as an archive in build/, the same bytes from the same commit
	@mkdir -p $(B)
	@spec/make-dist $(B)/sbxrun-$(VERSION).tar.xz $(COMMIT) $(EPOCH)

deps: ## install what the build needs (Debian, as root)
	@spec/install-deps build

check: ## fresh machine: install what the tests need, build every way, run all tests
	@tests/check

check-engines: ## every list of the engines, of this Debian and of sid, with runc beside it: a table in build/engines (half an hour)
	@$(MAKE) --no-print-directory all
	@tests/engines/all $(LISTS)

bench: ## compare with crun, runc and others: tables and a picture in build/bench (20 minutes; BENCH=--quick: 5)
	@$(MAKE) --no-print-directory all
	@tests/bench/bench.sh $(BENCH)
	@tests/bench/do.sh $(BENCH)
	@tests/bench/box.sh $(BENCH)
	@tests/bench/egress.sh $(BENCH)
	@tests/bench/systemd.sh

torture: ## the long forms of the tests, hours of them; tests/torture NAME… runs some
	@$(MAKE) --no-print-directory all
	@tests/torture

fuzz: ## the fuzzers, until each has FUZZ_RUNS (10000000) executions; can be stopped and called again
	@tests/fuzz/long

# Leaks aren't looked for: a failed check leaves a unit test by longjmp, without freeing.
sanitize: ## build and run the unit tests under ASan and UBSan
	@$(MAKE) --no-print-directory B=build-asan OPT="-O1 -g1" unit \
		SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
	@B=build-asan ASAN_OPTIONS=detect_leaks=0 tests/run unit

lint: ## formatting, shell scripts, static analysis
	@tests/lint

format: ## let clang-format lay out the lines of C that are not committed yet
	git clang-format --extensions c,h

print-programs: # a line each: its name, its own rooms, a colon, its rooms of the library
	@$(foreach p,$(PROGRAMS),echo '$(p) $(OWN_$(p)) : $(ROOMS_$(p))';)

print-library: # the rooms that are the library
	@echo '$(LIB_ROOMS)'

print-client: # a row as those of print-programs, for the program of the tests
	@echo 'tests/server : $(CLIENT_ROOMS)'

clean: ## remove what was built
	rm -rf build build-*

help: ## print this
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: FORCE all unit run install uninstall deb dist deps check check-engines bench torture fuzz sanitize lint format print-programs print-library print-client clean help
