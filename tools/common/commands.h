/* The subcommands of `orrery`.
 *
 * Each subcommand has a folder in tools/: it reads its arguments, calls the rooms, prints, and defines one const
 * `struct orr_command`. To add one: write tools/NAME/NAME.c with its `orr_cmd_NAME`, declare that below, and name it in
 * the table of tools/main.c. main prints the help texts, so a subcommand never handles `--help` itself.
 */
#ifndef ORR_TOOLS_COMMON_COMMANDS_H
#define ORR_TOOLS_COMMON_COMMANDS_H

#include "tools/common/ending.h"

struct orr_command {
  const char *name;
  const char *summary; /* one line, no full stop: the line in `orrery --help` */
  const char *usage;   /* what follows `orrery NAME`, e.g. "[--json] FILE..." */
  const char *help;    /* the manual below the usage line: paragraphs, options, exit status, an example; ends with \n */
  const char *help_end; /* the rest of it: C17 promises room for 4095 letters in one text; NULL: none */
  /* argv[0] is the subcommand's name, argv[1..argc-1] its arguments, argv[argc] NULL. Returns an enum orr_exit. */
  int (*run)(int argc, char **argv);
};

extern const struct orr_command orr_cmd_check;
extern const struct orr_command orr_cmd_eval;
extern const struct orr_command orr_cmd_run;
extern const struct orr_command orr_cmd_replay;
extern const struct orr_command orr_cmd_judge;
extern const struct orr_command orr_cmd_log;
extern const struct orr_command orr_cmd_icd;
extern const struct orr_command orr_cmd_bench;
extern const struct orr_command orr_cmd_timing;
extern const struct orr_command orr_cmd_doctor;
extern const struct orr_command orr_cmd_top;
extern const struct orr_command orr_cmd_ctl;
extern const struct orr_command orr_cmd_schema;
extern const struct orr_command orr_cmd_campaign;

#endif
