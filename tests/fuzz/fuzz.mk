# How the fuzzers are built; tests/fuzz/build calls it with B, SANITIZE and YAJL (the directory of yajl's source).
include Makefile

FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
SHARED  := $(addprefix $(B)/tests/fuzz/,fuzz.o arena.o documents.o)
YAJLOBJ := $(addprefix $(B)/yajl/,yajl.o yajl_alloc.o yajl_buf.o yajl_encode.o yajl_lex.o yajl_parser.o)
ALL_CFLAGS += -I$(YAJL)/include -Itests/fuzz

fuzzers: $(FUZZERS)

$(B)/yajl/%.o: $(YAJL)/src/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(SANITIZE) -w -I$(YAJL)/src -c -o $@ $<

# An archive, so that a target may include a file of the runtime to reach what is static in it.
$(B)/sbxrun.a: $(filter-out %/base/arena.o,$(LIBOBJ)) $(OWNOBJ) $(YAJLOBJ) $(SHARED)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(B)/fuzz/%: $(B)/tests/fuzz/fuzz_%.o $(B)/sbxrun.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) -fsanitize=fuzzer -o $@ $^ -l:libseccomp.a -l:libcap.a -l:libpcre2-8.a -lm

-include $(wildcard $(B)/tests/fuzz/*.d)
.PHONY: fuzzers
.PRECIOUS: $(B)/tests/fuzz/%.o
