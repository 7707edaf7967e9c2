# Orrery's build. `make` builds build/orrery; `make help` names the rest.
#
# Sources are found by folder, so a new file needs no line here:
#   core/ rt/ io/   one archive each     io/client/   an archive of its own (the flight software's side)
#   tools/          the orrery command   tools/fsw/, io/client/echo.c   programs of their own
#   examples/       compiled by tests/e2e/install.sh against what is installed
#   tests/unit, tests/timing, tests/bench, tests/fuzz   one program per file, all with tests/support
# Folders may be nested as deep as one likes; tests/gates/sources.sh fails if a source is in none of these lists.
# Variables: CC=clang  ARCH=native  DEBUG=1  SANITIZE=1  V=1 (show the commands); each mix has its own folder,
# build/<variant>, and build/orrery and build/fsw are the release build. For another processor: CC=aarch64-linux-gnu-gcc
# SYSROOT=build/arm64, whose libraries `tools/sysroot arm64 build/arm64` unpacks there.

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
HOST := $(shell uname -m)
TARGET := $(or $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null))),$(HOST))
ARCH ?= $(if $(filter x86_64,$(TARGET)),x86-64-v3,$(if $(filter $(HOST),$(TARGET)),native,armv8-a))
SYSROOT ?=
DEBUG ?=
SANITIZE ?=
FUZZ ?=
CFLAGS ?=
LDFLAGS ?=

COMPILER := $(notdir $(firstword $(CC)))
VARIANT := $(or $(if $(FUZZ),fuzz),$(if $(SANITIZE),sanitize),$(if $(DEBUG),debug),release)$(if $(FUZZ)$(filter gcc,$(COMPILER)),,-$(COMPILER))
B := build/$(VARIANT)

# --- flags -----------------------------------------------------------------------------------------------------------
# The bits of a result are those of the source, whatever the compiler: it fuses no product with a sum (core says fma
# where it wants one), and reorders nothing, so never -ffast-math. gcc 12 makes vfmaddsub of products and sums side by
# side all the same, in the vectors of straight-line code: hence the third flag; tests/gates/core.sh looks for them.
MATH := -ffp-contract=off -fno-math-errno -fno-tree-slp-vectorize -fno-trapping-math
# Names and lines for traces and profiles; those of variables, which a debugger shows, with DEBUG=1. They cost a third
# of the sanitizers' compiling and two thirds of every program.
TRACES := $(if $(DEBUG),-g,-g1)
OPTIMIZE := $(if $(FUZZ),-O2 -fno-omit-frame-pointer,$(if $(SANITIZE),-O1 -fno-omit-frame-pointer,$(if $(DEBUG),-Og,-O3)))
# The fuzzer is told of edges and not of comparisons: most of those are the sanitizer's own, of addresses, and to tell
# them took two thirds of the time.
FUZZED := -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp
CHECKS := $(if $(FUZZ),$(FUZZED)) $(if $(SANITIZE)$(FUZZ),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)
# -Wno-psabi: without AVX gcc would warn of how four doubles are passed; only static functions pass
# them (core/math/lanes.h).
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Wshadow -Wvla -Wstrict-prototypes \
  -Wmissing-prototypes -Wundef -Wno-psabi -Werror
# Whatever reads bytes of others is built to fail rather than to be led: canaries, checked copies, and a table of
# addresses that nobody can write once the program runs. core has neither files nor packets, and its sweeps are the hot
# path: it goes without the first two. tests/gates/hardened.sh holds it.
HARDEN := $(if $(SANITIZE)$(FUZZ)$(DEBUG),,-fstack-protector-strong -D_FORTIFY_SOURCE=2)
HARDEN_LINK := -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
ORR_FLAGS = -std=c17 -march=$(ARCH) $(OPTIMIZE) $(TRACES) $(MATH) $(CHECKS) $(WARNINGS) -fPIE -I. $(CFLAGS)
HOSTED = -D_GNU_SOURCE -pthread $(HARDEN) $(PKG_CFLAGS)
LINK = $(CHECKS) -pthread -Wl,--as-needed $(HARDEN_LINK) $(LDFLAGS)

ifneq ($(SYSROOT),)
export PKG_CONFIG_LIBDIR := $(firstword $(wildcard $(abspath $(SYSROOT))/usr/lib/*/pkgconfig) $(abspath $(SYSROOT))/usr/lib/pkgconfig)
export PKG_CONFIG_SYSROOT_DIR := $(abspath $(SYSROOT))
LINK += -Wl,-rpath-link=$(patsubst %/pkgconfig,%,$(PKG_CONFIG_LIBDIR))
endif
PACKAGES := libfyaml jansson liburing erfa libzstd libsodium
TEST_PACKAGES := $(PACKAGES) cmocka
# with the variables in front, for what is exported reaches recipes and not $(shell)
pkg_config = $(shell $(if $(SYSROOT),PKG_CONFIG_LIBDIR='$(PKG_CONFIG_LIBDIR)' PKG_CONFIG_SYSROOT_DIR='$(PKG_CONFIG_SYSROOT_DIR)') pkg-config $(1) 2>/dev/null)
PKG_CFLAGS := $(patsubst -I%,-isystem %,$(call pkg_config,--cflags $(TEST_PACKAGES)))
PKG_LIBS := $(call pkg_config,--libs $(PACKAGES))
CMOCKA_LIBS := $(call pkg_config,--libs cmocka)

# --- sources ---------------------------------------------------------------------------------------------------------
# $(call under,FOLDER,c): the files of that ending below it, however deep.
under = $(sort $(patsubst ./%,%,$(shell find $(1) -type f -name '*.$(2)' 2>/dev/null)))
CORE := $(call under,core,c)
RT := $(call under,rt,c)
ECHO := io/client/echo.c
WIRE := $(call under,io/wire,c)
CLIENT := $(filter-out $(ECHO),$(call under,io/client,c)) $(WIRE)
IO := $(filter-out $(call under,io/client,c),$(call under,io,c))
# An app of cFS is compiled in its tree, and by tests/e2e/cfs.sh; not here.
CFS := $(call under,tools/cfs,c) $(call under,tests/cfe,c)
# The control law of the sample flight software is linked in, too.
TOOLS := $(filter-out tools/main.c tools/fsw/main.c $(CFS),$(call under,tools,c))
FSW := $(call under,tools/fsw,c)
SUPPORT := $(call under,tests/support,c)
UNIT := $(call under,tests/unit,c)
TIMING := $(call under,tests/timing,c)
BENCH := $(call under,tests/bench,c)
FUZZERS := $(call under,tests/fuzz,c)
EXAMPLES := $(call under,examples,c)

obj = $(patsubst %.c,$(B)/%.o,$(1))
ROOMS := $(B)/libio.a $(B)/librt.a $(B)/libcore.a
UNIT_PROGRAMS := $(patsubst %.c,$(B)/%,$(UNIT))
TIMING_PROGRAMS := $(patsubst %.c,$(B)/%,$(TIMING))

V ?=
Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-4s %s\n' $(1) $@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

.PHONY: all programs
programs: $(B)/orrery $(if $(FSW),$(B)/fsw) $(if $(wildcard $(ECHO)),$(B)/echo) $(B)/libclient.a
all: programs
ifeq ($(DEBUG)$(SANITIZE)$(FUZZ),)
	@for p in orrery $(if $(FSW),fsw); do \
	  test "$$(readlink build/$$p)" = $(VARIANT)/$$p || ln -sfn $(VARIANT)/$$p build/$$p; done
endif

# --- objects and archives --------------------------------------------------------------------------------------------
# Rewritten only when its content changes, so that other flags mean a rebuild and the same flags do not.
FLAGS_NOW = $(CC) $(ORR_FLAGS) $(HARDEN) $(PKG_CFLAGS) $(LINK)
.PHONY: FORCE
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS_NOW)' | cmp -s - $@ || printf '%s\n' '$(FLAGS_NOW)' > $@

# The same for the list of sources: a file that goes away must go from its archive too.
SOURCES_NOW = $(CORE) $(RT) $(CLIENT) $(IO) $(TOOLS) $(SUPPORT)
$(B)/sources: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(SOURCES_NOW)' | cmp -s - $@ || printf '%s\n' '$(SOURCES_NOW)' > $@

# The one place of the version; CHANGELOG.md says what is in it.
VERSION := 0.1.0
COMMIT ?= $(shell git describe --always --dirty --tags 2>/dev/null || echo unversioned)
# By way of a file of its own: `make run` may be at work in another terminal.
$(B)/generated/build_info.h: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; flags='$(filter-out -W%,$(ORR_FLAGS))'; set -- $$(printf '%s' "$$flags" | cksum); \
	  printf '#define ORR_BUILD_VERSION "%s"\n#define ORR_BUILD_COMMIT "%s"\n#define ORR_BUILD_FLAGS "%s"\n#define ORR_BUILD_FLAGS_SUM "%s"\n' \
	  '$(VERSION)' '$(COMMIT)' "$$flags" "$$1" > $$new; \
	  cmp -s $$new $@ && rm $$new || mv $$new $@

$(B)/%.o: %.c $(B)/flags | packages
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(ORR_FLAGS) $(HOSTED) -MMD -MP -c -o $@ $<

# core is strict C17: no POSIX name is even declared there.
$(B)/core/%.o: HOSTED =

$(B)/tools/common/version.o: $(B)/generated/build_info.h
$(B)/tools/common/version.o: HOSTED += -I$(B)/generated

# Says what to do rather than leave it to a missing header.
.PHONY: packages
packages:
	@tools/setup --check build

# $(call link,LIBRARIES)
define link
$(call say,link)
$(Q)$(CC) $(LINK) -o $@ $^ $(1) -lm
endef

define archive
@mkdir -p $(@D)
@rm -f $@
$(Q)ar rcs $@ $(filter %.o,$^)
endef
$(B)/libcore.a: $(call obj,$(CORE)) $(B)/sources
	$(archive)
$(B)/librt.a: $(call obj,$(RT)) $(B)/sources
	$(archive)
$(B)/libio.a: $(call obj,$(IO)) $(B)/sources
	$(archive)
$(B)/libclient.a: $(call obj,$(CLIENT)) $(B)/sources
	$(archive)
$(B)/libtools.a: $(call obj,$(TOOLS)) $(B)/sources
	$(archive)
$(B)/libsupport.a: $(call obj,$(SUPPORT)) $(B)/sources
	$(archive)

# What others build on (make install): the rooms as one archive, and the client as a shared library.
$(B)/liborrery.a: $(call obj,$(CORE) $(RT) $(IO)) $(B)/sources
	$(archive)
$(B)/pic/%.o: %.c $(B)/flags | packages
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(ORR_FLAGS) -fPIC $(HOSTED) -MMD -MP -c -o $@ $<
$(B)/liborrery-client.so: $(patsubst %.c,$(B)/pic/%.o,$(CLIENT))
	$(call say,link)
	$(Q)$(CC) $(LINK) -shared -Wl,-soname,liborrery-client.so.$(firstword $(subst ., ,$(VERSION))) -o $@ $^

$(B)/orrery: $(B)/tools/main.o $(B)/libtools.a $(B)/libclient.a $(ROOMS)
	$(call link,$(PKG_LIBS))

$(B)/fsw: $(call obj,$(FSW)) $(B)/libclient.a
	$(call link)

$(B)/echo: $(B)/io/client/echo.o $(B)/libclient.a
	$(call link)

# --- tests -----------------------------------------------------------------------------------------------------------
TEST_ROOMS := $(B)/libsupport.a $(B)/libtools.a $(B)/libclient.a $(ROOMS)
# The longest first, so that none of them ends long after all others.
LONGEST := torture heartbeat flight realtime log_lost readme ending log_disk hard progress on_time timing python keyed json_ends log_killed
SCRIPTS = $(sort $(shell find tests/e2e -maxdepth 1 -type f -perm -u+x))
E2E = $(foreach name,$(LONGEST),$(filter tests/e2e/$(name).sh,$(SCRIPTS))) $(filter-out $(LONGEST:%=tests/e2e/%.sh),$(SCRIPTS))
SANITIZED = $(patsubst %.c,build/sanitize/%,$(UNIT)) $(patsubst %.c,build/sanitize/%-replay,$(FUZZERS))
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = $(MAKE) --no-print-directory
# a sanitizer's report is told from an exit status of the program itself
RUNNER = $(B)/tests/runner ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1 \
  'ORRERY=$(CURDIR)/$(B)/orrery'

$(B)/tests/%: $(B)/tests/%.o $(TEST_ROOMS)
	$(call link,$(CMOCKA_LIBS) $(PKG_LIBS))

$(B)/tests/fuzz/%-replay: $(B)/tests/fuzz/%.o $(B)/tests/replay.o $(TEST_ROOMS)
	$(call link,$(PKG_LIBS))

$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(TEST_ROOMS)
	$(call link,-fsanitize=fuzzer $(PKG_LIBS))

.PHONY: unit replays fuzzers build-tests test
unit: $(UNIT_PROGRAMS)
replays: $(patsubst %.c,$(B)/%-replay,$(FUZZERS))
fuzzers: $(patsubst %.c,$(B)/%,$(FUZZERS))
build-tests: installable unit replays $(TIMING_PROGRAMS) $(B)/tests/vectors/compare $(B)/tests/runner

# Side by side, three for each of up to two processors, eight on up to seven, and one for each from there on: scripts
# that fly in real time mostly sleep, but all of them on the last core. No test minds a busy machine. Then, one at a
# time on a quiet one, the programs that measure time. The limit of ten minutes is for what hangs: beside fifteen other
# programs the longest script takes two.
SIDE_BY_SIDE = $(shell n=$$(nproc); echo $$((n < 3 ? 3 * n : n < 8 ? 8 : n < 64 ? n : 64)))
test:
	@tools/setup build test
	+@$(SUBMAKE) $(JOBS) all build-tests
	+@$(SUBMAKE) $(JOBS) CC=gcc SANITIZE=1 DEBUG= FUZZ= programs unit replays \
	  build/sanitize/tests/vectors/compare
	@$(RUNNER) -j $(SIDE_BY_SIDE) -t 600 $(E2E) $(SANITIZED) $(UNIT_PROGRAMS) $(B)/tests/vectors/compare \
	  'ORRERY=$(CURDIR)/build/sanitize/orrery' build/sanitize/tests/vectors/compare 'ORRERY=$(CURDIR)/$(B)/orrery' \
	  -j 1 $(TIMING_PROGRAMS)

# What needs heavy packages or more time: the quick gate, the spacecraft beside MuJoCo,
# and whatever else stands in tests/all but all jobs of the PREEMPT_RT kernel in an emulator. Each part runs alone:
# `make check`, `tests/all/NAME.sh`. All jobs of the guest take half an hour of two cores, so they stand in `make soak`;
# tests/all/rt-vm.sh has what takes minutes.
GUEST := tests/all/rt-kernel.sh
.PHONY: test-all test-rest
test-all: test
	+@$(SUBMAKE) test-rest
test-rest:
	@tools/setup build test check all deb
	+@$(SUBMAKE) $(JOBS) all build-tests build-bench
	+@$(SUBMAKE) check
	@$(RUNNER) -j 1 -t 1800 $(filter-out $(GUEST),$(sort $(shell find tests/all -maxdepth 1 -type f -perm -u+x)))

# --- run -------------------------------------------------------------------------------------------------------------
# An executive and flight software, two processes: over shared memory, over UDP, or in lockstep as fast as they go.
# DURATION=5s flies so much of it, which is less than the file expects: incomplete, exit 3, of
# which make says `Error 3`.
# SEGMENT and PORT are where the two meet: others for a second flight at the same time.
FLIGHT := configs/cassini-slew.yaml
DURATION ?=
SEGMENT ?= /orrery.cassini
PORT ?= 5010
UDP_LINK = links.fsw={transport: udp, listen: "127.0.0.1:$(PORT)", allow: [127.0.0.1], rate: 100 Hz, \
  telemetry: [gyro.rate, star.*, wheel_*.speed, bus.target], commands: [wheel_*.torque, jet_*.on_time], \
  timeout: {frames: 50, policy: zero}}
SHM_LINK = $(if $(filter-out /orrery.cassini,$(SEGMENT)),--set links.fsw.name=$(SEGMENT))

# $(call fly,URL,ARGUMENTS,PICTURE); Ctrl-C ends both programs, and the summary is still waited for. The flight software
# starts when the run has its link: sooner it could meet another run there, and take that over.
flown = $(strip $(B)/orrery run $(FLIGHT) $(1) $(if $(DURATION),--duration $(DURATION)))
define fly
@trap : INT; echo '$(B)/fsw $(1) cassini &'; echo '$(call flown,$(2))'; mine=build/.flight.$$$$; \
  { until [ -e $$mine.ready ]; do sleep 0.05; done; exec $(B)/fsw $(1) cassini; } & peer=$$!; \
  $(call flown,$(2)) --ready $$mine.ready --plot $$mine.svg; status=$$?; \
  kill $$peer 2>/dev/null; wait $$peer 2>/dev/null; \
  [ ! -f $$mine.svg ] || { mv -f $$mine.svg $(3) && echo "picture     $(CURDIR)/$(3)"; }; rm -f $$mine.ready; exit $$status
endef
# one for each place where a run and its flight software can meet
picture = build/cassini-slew$(2)$(if $(filter-out /orrery.cassini 5010,$(1)),.$(patsubst /%,%,$(1))).svg

.PHONY: run run-udp run-lockstep flyable
flyable:
	@tools/setup build
	+@$(SUBMAKE) $(JOBS) all
run run-udp run-lockstep: flyable
run:
	$(call fly,shm:$(SEGMENT),--mode realtime $(SHM_LINK),$(call picture,$(SEGMENT)))
run-udp:
	$(call fly,udp:127.0.0.1:$(PORT),--mode realtime --set '$(UDP_LINK)',$(call picture,$(PORT),-udp))
run-lockstep:
	$(call fly,shm:$(SEGMENT),--mode lockstep $(SHM_LINK),$(call picture,$(SEGMENT)))

# --- check: the quick gate --------------------------------------------------------------------------------------------
SOURCES := $(filter-out $(CFS),$(foreach r,core rt io tools tests,$(call under,$(r),c)))
HEADERS := $(foreach r,core rt io tools tests,$(call under,$(r),h))
# Where lines of comment begin with #: scripts, with or without a suffix, this file, and what configs holds.
COMMENTED = Makefile $(call under,configs,yaml) $(foreach e,sh py,$(call under,tools io tests examples,$(e))) \
  $(sort $(shell find tools tests -type f -perm -u+x ! -name '*.*')) tests/all/rt-kernel/init tools/orrery.service debian/rules
# What a package that may not be installed is needed for is left to `make bench`.
JUDGED = $(filter-out tests/bench/%,$(SOURCES))
# Files are looked at again when they or what they include change. clang's analyzer, which takes nearly all the
# time, walks a quarter of its usual bound of nodes of each function, in a fifth of the time; DEEP=1
# (`make soak`) walks them all.
DEEP ?=
TIDY := build/tidy$(if $(DEEP),-deep)
TIDIED = $(patsubst %,$(TIDY)/%.ok,$(JUDGED))

.PHONY: check check-format check-cppcheck check-rooms check-tidy check-selftest format
check:
	@tools/setup build check
	@$(SUBMAKE) $(JOBS) --keep-going CC=gcc SANITIZE= DEBUG= FUZZ= check-gcc check-format check-cppcheck check-rooms \
	  check-tidy check-selftest
	@$(SUBMAKE) $(JOBS) CC=clang SANITIZE= DEBUG= FUZZ= build-tests build-bench
	@echo 'make check: all is well'
.PHONY: check-gcc
check-gcc: build-tests build-bench
check-format:
	@tests/gates/format.sh $(SOURCES) $(HEADERS) $(EXAMPLES) $(CFS)
	@tests/gates/columns.sh $(SOURCES) $(HEADERS) $(EXAMPLES) $(CFS) $(COMMENTED)
check-cppcheck:
	@CPPCHECK_DIR=build/cppcheck tests/gates/cppcheck.sh $(JUDGED)
check-rooms: programs
	@tests/gates/rooms.sh
	@tests/gates/pictures.sh
	+@$(SUBMAKE) -s sources > build/sources && tests/gates/sources.sh build/sources
	@tests/gates/core.sh $(B)/libcore.a
	@tests/gates/names.sh $(ROOMS) $(B)/libclient.a $(B)/libtools.a
	@tests/gates/hardened.sh $(B)/orrery $(B)/fsw $(B)/echo
check-selftest:
	@tests/gates/selftest.sh rooms pictures sources columns core names hardened format tidy cppcheck
check-tidy: $(TIDIED)
TIDY_FLAGS = -std=c17 -march=$(ARCH) -I. -I$(B)/generated $(PKG_CFLAGS)
$(TIDY)/%.ok: % tests/gates/tidy.sh $(wildcard .clang-tidy */.clang-tidy) | $(B)/generated/build_info.h
	@mkdir -p $(@D)
	$(call say,tidy)
	@TIDY_NODES=$(if $(DEEP),225000,50000) tests/gates/tidy.sh $< $(TIDY_FLAGS) $(if $(filter core/%,$<),,-D_GNU_SOURCE)
	@$(CC) $(TIDY_FLAGS) -D_GNU_SOURCE -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	@touch $@

# What the lists above and below hold, one file a line: the gate of sources finds what is in none.
.PHONY: sources
sources:
	@printf '%s\n' $(sort $(CORE) $(RT) $(CLIENT) $(ECHO) $(IO) $(TOOLS) tools/main.c $(FSW) $(SUPPORT) $(UNIT) $(TIMING) $(BENCH) $(FUZZERS) \
	  tests/runner.c tests/replay.c tests/vectors/compare.c $(EXAMPLES) $(CFS) $(HEADERS))

# --- install ---------------------------------------------------------------------------------------------------------
# PREFIX is where it will run, DESTDIR a folder in front of it for packaging. LIBDIR and
# PYTHONDIR as tools/install says.
PREFIX ?= /usr/local
DESTDIR ?=
.PHONY: install uninstall installable deb
installable: programs $(B)/liborrery.a $(B)/liborrery-client.so
install: installable
	@tools/install '$(B)' '$(VERSION)' '$(PREFIX)' '$(DESTDIR)'
# In a copy of the tree, by debian/rules. Everything else that is needed is a package of the distribution.
deb:
	@tools/setup build deb
	@tools/deb '$(VERSION)' '$(COMMIT)'
uninstall:
	@tools/install --remove '$(B)' '$(VERSION)' '$(PREFIX)' '$(DESTDIR)'

# The pages of configs that are printed from the tables of the reader; a test holds them to it.
.PHONY: reference
reference: programs
	@$(B)/orrery help devices --markdown > configs/devices.md
	@$(B)/orrery help run-file --markdown > configs/run-file.md
	@$(B)/orrery help campaign-file --markdown > configs/campaign-file.md

format:
	@clang-format -i $(SOURCES) $(HEADERS) $(EXAMPLES) $(CFS)

# --- the long ones ---------------------------------------------------------------------------------------------------
FUZZ_SECONDS ?= 60
.PHONY: fuzz soak bench
fuzz:
	@tools/setup build fuzz
	@$(SUBMAKE) $(JOBS) CC=clang FUZZ=1 SANITIZE= DEBUG= fuzzers
	@tests/fuzz/run.sh $(FUZZ_SECONDS) -1 $(patsubst %.c,build/fuzz/%,$(FUZZERS))

# Minutes of real time, millions of steps, an hour of torture, and ten million executions of each fuzz target, as many
# targets at a time as there are processors, and twelve hours each at most: some four hours of fuzzing on two processors
# of their own, by the rates in tests/README.md; log_run, case and state take most. FUZZ_EXECUTIONS=1000000 asks for
# fewer.
# flaky.sh, whole.sh and timing_compare.sh take hours, and a machine of their own:
# they are run by hand.
FUZZ_EXECUTIONS ?= 10000000
soak:
	@tools/setup build test check fuzz
	@$(SUBMAKE) $(JOBS) all build-tests
	@$(SUBMAKE) $(JOBS) CC=clang FUZZ=1 SANITIZE= DEBUG= fuzzers
	@$(SUBMAKE) $(JOBS) CC=gcc SANITIZE= DEBUG= FUZZ= DEEP=1 check-tidy
	@printf '%s\n' $(patsubst %.c,build/fuzz/%,$(FUZZERS)) | xargs -P $(shell nproc) -n 1 tests/fuzz/run.sh 43200 $(FUZZ_EXECUTIONS)
	@$(RUNNER) -j 1 -t 14400 $(GUEST) $(filter-out %/flaky.sh %/whole.sh %/timing_compare.sh,$(sort $(shell find tests/soak -maxdepth 1 -type f -perm -u+x)))

# A benchmark that wants a library of its own says so in a line ` * Links with: -lNAME`; it is left out where that is
# not installed.
links_with = $(shell sed -n 's/^ \* Links with: *//p' $(1))
can_link = $(shell echo 'int main(void) { return 0; }' | $(CC) -x c - -x none $(1) -o /dev/null 2>/dev/null && echo yes)
READY = $(foreach f,$(BENCH),$(if $(call can_link,$(call links_with,$(f))),$(f)))
bench:
	@tools/setup build
	@$(SUBMAKE) $(JOBS) build-bench
	@for f in $(filter-out $(READY),$(BENCH)); do echo "left out: $$f (its library is not installed)"; done
	@for p in $(patsubst %.c,$(B)/%,$(READY)); do echo "$$p"; $$p || exit 1; done
.PHONY: build-bench
build-bench: programs $(patsubst %.c,$(B)/%,$(READY))
	@:
$(B)/tests/bench/%: $(B)/tests/bench/%.o $(TEST_ROOMS)
	$(call link,$(call links_with,tests/bench/$*.c) $(PKG_LIBS))

# A PREEMPT_RT kernel in an emulator as a gate: figures by stage, counted, beside tests/baseline/counted_guest, and what
# --fix does on cgroup v1 and v2. RT_KERNEL and RT_KERNEL2 are files or Debian packages; with both, the figures of the
# two kernels stand side by side. BOOTS=40: so many boots.
RT_KERNEL ?=
RT_KERNEL2 ?=
.PHONY: rt-vm
rt-vm:
	@tools/setup build vm
	@$(SUBMAKE) $(JOBS) all
	@ORRERY='$(CURDIR)/$(B)/orrery' RT_KERNEL='$(RT_KERNEL)' tests/all/rt-vm.sh \
	  $(if $(RT_KERNEL2),compare '$(or $(RT_KERNEL),linux-image-rt-amd64)' '$(RT_KERNEL2)') || [ $$? -eq 77 ]

# Instructions per step, counted by valgrind: the same on every run, whatever else the machine does.
.PHONY: bench-instructions
bench-instructions:
	@tools/setup build bench
	@$(SUBMAKE) $(JOBS) all build-bench
	@ORRERY='$(CURDIR)/$(B)/orrery' tests/bench/instructions.sh

# What tests/all/stage_instructions.sh and tests/all/rt-vm.sh hold each stage to; prints what differs.
.PHONY: rt-baseline
rt-baseline:
	@tools/setup build bench vm
	@$(SUBMAKE) $(JOBS) all
	@ORRERY='$(CURDIR)/$(B)/orrery' tests/all/stage_instructions.sh --update
	@ORRERY='$(CURDIR)/$(B)/orrery' RT_KERNEL='$(RT_KERNEL)' tests/all/rt-vm.sh --update

.PHONY: bits-baseline
bits-baseline:
	@tools/setup build test
	+@$(SUBMAKE) $(JOBS) all unit
	@ORRERY='$(CURDIR)/$(B)/orrery' tests/e2e/same_bits.sh --update

.PHONY: help
help:
	@echo 'make          build/orrery'
	@echo 'make run      installs what is missing, builds, flies cassini in real time under flight software; run-udp, run-lockstep; DURATION=5s; SEGMENT=/NAME or PORT=N beside another run'
	@echo 'make test     installs what is missing, builds, and runs every test that fits in a quarter of an hour'
	@echo 'make test-all make test, make check, and the tests that need heavy packages (tests/all): at most 45 minutes'
	@echo 'make check    the quick gate: format, warnings of gcc and clang, clang-tidy, cppcheck, rooms, objects of core'
	@echo 'make fuzz     each fuzz target for FUZZ_SECONDS=60'
	@echo 'make soak     the long tests: ten million executions of each fuzz target (some hours), an hour of torture, a fresh machine, ...'
	@echo 'make bench    the benchmarks; bench-instructions counts instructions instead of time'
	@echo 'make rt-vm    a PREEMPT_RT kernel in an emulator: instructions of each stage beside the baseline, cgroup v1 and v2; RT_KERNEL=FILE or PACKAGE, RT_KERNEL2=: two side by side'
	@echo 'make rt-baseline  writes tests/baseline anew: instructions of each stage, by callgrind and in the guest of rt-vm, with what differs'
	@echo 'make bits-baseline  writes tests/baseline/state_hash anew, with what differs; for changes that are meant to change bits'
	@echo 'make install  under PREFIX=/usr/local, below DESTDIR; make uninstall takes it away'
	@echo 'make deb      build/deb/orrery_VERSION_ARCHITECTURE.deb; with everything installed it needs no network'
	@echo 'make format   lays out the code'
	@echo 'make reference writes configs/devices.md, run-file.md and campaign-file.md again'
	@echo 'make clean    removes build/'
	@echo 'with          CC=clang  ARCH=native  DEBUG=1  SANITIZE=1  V=1'
	@echo '              CC=aarch64-linux-gnu-gcc SYSROOT=build/arm64: for AArch64, after tools/setup aarch64 and tools/sysroot arm64 build/arm64'

-include $(shell find $(wildcard $(B) $(TIDY)) /dev/null -name '*.d')

.PHONY: clean
clean:
	rm -rf build
