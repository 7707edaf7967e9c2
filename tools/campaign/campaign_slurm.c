#include "tools/campaign/campaign_slurm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/config/text/files.h"
#include "rt/machine/make_folder.h"
#include "tools/campaign/campaign_run.h"
#include "tools/common/fingerprint.h"

enum { WORDS = 20, ID = 64 };

/* ---- scripts ----------------------------------------------------------------------------------------------------- */

/* In quotes for the shell. */
static void put_quoted(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", out);
    else
      fputc(*text, out);
  }
  fputc('\'', out);
}

struct places {
  char program[PATH_MAX], campaign[PATH_MAX], folder[PATH_MAX];
};

/* Whole paths: a task starts wherever its node puts it. */
static bool find_places(const struct orr_folder *f, struct places *p) {
  ssize_t n = readlink("/proc/self/exe", p->program, sizeof p->program - 1);
  if (n <= 0 || !realpath(f->campaign->path, p->campaign) || !realpath(f->path, p->folder)) {
    fprintf(stderr, "orrery campaign: cannot tell where the program, the campaign and '%s' are: %s\n", f->path,
            strerror(errno));
    return false;
  }
  p->program[n] = '\0';
  return true;
}

static void put_command(FILE *out, const struct places *p, const char *verb) {
  fputs("exec ", out);
  put_quoted(out, p->program);
  fprintf(out, " campaign %s ", verb);
  put_quoted(out, p->campaign);
  fputs(" -o ", out);
  put_quoted(out, p->folder);
}

static void put_work(FILE *out, const struct places *p, const struct orr_slurm_request *r) {
  fputs("#!/bin/sh\n# One task of the array: flies its part of the campaign into a folder of its own.\n", out);
  put_command(out, p, "work");
  fprintf(out,
          " --task \"$SLURM_ARRAY_TASK_ID\" --tasks %lld --jobs %d \\\n"
          "  --attempt \"$SLURM_ARRAY_JOB_ID.$SLURM_ARRAY_TASK_ID.${SLURM_RESTART_COUNT:-0}\"\n",
          (long long)r->tasks, r->cpus);
}

static void put_gather(FILE *out, const struct places *p) {
  fputs("#!/bin/sh\n# After the array, however it ended: tables and verdict of what was flown.\n", out);
  put_command(out, p, "gather");
  fputc('\n', out);
}

static bool write_script(const struct places *p, const char *name, const struct orr_slurm_request *r) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%.3900s/%s", p->folder, name);
  FILE *out = fopen(path, "we");
  if (out && strcmp(name, "work.sh") == 0)
    put_work(out, p, r);
  else if (out)
    put_gather(out, p);
  if (out && fclose(out) == 0)
    return true;
  fprintf(stderr, "orrery campaign: cannot write '%s': %s\n", path, strerror(errno));
  return false;
}

/* ---- sbatch ------------------------------------------------------------------------------------------------------ */

static void print_words(char *const *words) {
  for (size_t i = 0; words[i]; i++) {
    fputs(i ? " " : "", stdout);
    if (strpbrk(words[i], " '\"$&;()*?<>|\\"))
      put_quoted(stdout, words[i]);
    else
      fputs(words[i], stdout);
  }
  putchar('\n');
}

/* Runs it; the first line that it says goes into `id`. */
static bool submit(char *const *words, char id[ID]) {
  int said[2], status = -1;
  if (pipe2(said, O_CLOEXEC) != 0)
    return false;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(said[1], STDOUT_FILENO);
    execvp(words[0], words);
    fprintf(stderr, "orrery campaign: cannot run '%s': %s; --print-script shows what it would be given\n", words[0],
            strerror(errno));
    fflush(stderr);
    _exit(127);
  }
  close(said[1]);
  FILE *in = fdopen(said[0], "r");
  bool good = in && fgets(id, ID, in);
  if (in)
    fclose(in);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (good)
    id[strcspn(id, ";\n")] = '\0'; /* of several clusters: ID;CLUSTER */
  return good && status == 0 && id[0];
}

struct batch {
  char text[6][PATH_MAX + 64];
  char *words[WORDS];
  int count;
};

static void add(struct batch *b, const char *word) { b->words[b->count++] = (char *)(uintptr_t)word; }

static void make_batch(struct batch *b, const struct places *p, const struct orr_slurm_request *r, const char *after) {
  b->count = 0;
  add(b, "sbatch");
  add(b, "--parsable");
  add(b, "--requeue");
  add(b, "--open-mode=append");
  if (r->partition) {
    snprintf(b->text[0], sizeof b->text[0], "--partition=%.200s", r->partition);
    add(b, b->text[0]);
  }
  if (after) {
    snprintf(b->text[1], sizeof b->text[1], "--dependency=afterany:%s", after);
    add(b, b->text[1]);
    add(b, "--job-name=orrery-gather");
  } else {
    snprintf(b->text[1], sizeof b->text[1], "--array=0-%lld", (long long)r->tasks - 1);
    add(b, b->text[1]);
    snprintf(b->text[2], sizeof b->text[2], "--cpus-per-task=%d", r->cpus);
    add(b, b->text[2]);
    add(b, "--job-name=orrery-campaign");
  }
  snprintf(b->text[3], sizeof b->text[3], "--output=%.3900s/%s", p->folder, after ? "gather.out" : "work-%a.out");
  add(b, b->text[3]);
  snprintf(b->text[4], sizeof b->text[4], "%.3900s/%s", p->folder, after ? "gather.sh" : "work.sh");
  add(b, b->text[4]);
  b->words[b->count] = NULL;
}

static enum orr_exit print_all(const struct places *p, const struct orr_slurm_request *r, struct batch *b) {
  printf("# %s/work.sh\n", p->folder);
  put_work(stdout, p, r);
  printf("\n# %s/gather.sh\n", p->folder);
  put_gather(stdout, p);
  puts("\n# submitted by");
  make_batch(b, p, r, NULL);
  print_words(b->words);
  make_batch(b, p, r, "ID");
  print_words(b->words);
  return ORR_EXIT_OK;
}

enum orr_exit orr_slurm_submit(const struct orr_slurm_request *r, const struct orr_folder *f) {
  struct places *p = calloc(1, sizeof *p);
  struct batch *b = calloc(1, sizeof *b);
  char array[ID] = "", gather[ID] = "";
  enum orr_exit status = ORR_EXIT_BAD;
  if (p && b && find_places(f, p)) {
    if (r->print_only) {
      status = print_all(p, r, b);
    } else if (write_script(p, "work.sh", r) && write_script(p, "gather.sh", r)) {
      make_batch(b, p, r, NULL);
      bool good = submit(b->words, array);
      make_batch(b, p, r, array);
      if (good && submit(b->words, gather)) {
        printf("array       %s: %lld tasks of %d processors\ngather      %s, after it\nstatus      orrery campaign "
               "status %s "
               "-o %s\n",
               array, (long long)r->tasks, r->cpus, gather, f->campaign->path, f->path);
        status = ORR_EXIT_OK;
      }
    }
  }
  free(p);
  free(b);
  return status;
}

/* ---- a task ------------------------------------------------------------------------------------------------------ */

enum orr_exit orr_slurm_work(struct orr_folder *f, int64_t task, int64_t tasks, const char *attempt, int jobs) {
  char name[200], host[65] = "";
  int64_t n = f->campaign->flights, first = task * n / tasks, end = (task + 1) * n / tasks;
  gethostname(host, sizeof host - 1);
  snprintf(name, sizeof name, "%.100s.%.40s.%lld", attempt, host, (long long)getpid());
  for (char *c = name; *c; c++)
    *c = *c == '/' ? '_' : *c;
  if (!orr_folder_attempt(f, name))
    return ORR_EXIT_BAD;
  orr_campaign_catch_signals();
  if (!orr_campaign_fly_all(f, first, end, jobs))
    return ORR_EXIT_BAD;
  for (int64_t i = first; i < end; i++)
    if (!orr_folder_has(f, i))
      return ORR_EXIT_INCOMPLETE; /* a signal: the attempt is left as it is */
  return orr_folder_complete(f) ? ORR_EXIT_OK : ORR_EXIT_BAD;
}

/* ---- what came of it --------------------------------------------------------------------------------------------- */

void orr_slurm_refused(const char *folder) {
  char path[PATH_MAX], host[65] = "", print[ORR_FINGERPRINT_TEXT];
  gethostname(host, sizeof host - 1);
  snprintf(path, sizeof path, "%.3900s/refused", folder);
  orr_make_folder(path, 0777);
  snprintf(path, sizeof path, "%.3900s/refused/%s", folder, host);
  FILE *out = fopen(path, "we");
  if (!out)
    return;
  fprintf(out, "%s\n", orr_fingerprint(print));
  fclose(out);
}

static void each_entry(const struct orr_folder *f, const char *below, void *to,
                       void (*take)(void *to, const char *path, const char *name)) {
  char path[PATH_MAX + 300];
  struct dirent **list;
  snprintf(path, sizeof path, "%.3900s/%s", f->path, below);
  int n = scandir(path, &list, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%.3900s/%s/%s", f->path, below, list[i]->d_name);
    if (list[i]->d_name[0] != '.')
      take(to, path, list[i]->d_name);
    free(list[i]);
  }
  if (n >= 0)
    free(list);
}

static void say_refused(void *to, const char *path, const char *name) {
  char print[80] = "";
  FILE *in = orr_text_open(path);
  (void)to;
  if (in && fgets(print, sizeof print, in))
    print[strcspn(print, "\n")] = '\0';
  if (in)
    fclose(in);
  fprintf(stderr, "orrery campaign: node %s was refused: its build or its elementary functions are others (%s)\n", name,
          print);
}

void orr_slurm_say_refused(const struct orr_folder *f) { each_entry(f, "refused", NULL, say_refused); }

struct attempts {
  int64_t complete, begun, rows;
};

static void count_attempt(void *to, const char *path, const char *name) {
  struct attempts *a = to;
  char file[PATH_MAX + 400];
  int c;
  (void)name;
  snprintf(file, sizeof file, "%.4200s/complete", path);
  if (access(file, F_OK) == 0) {
    a->complete++;
    return;
  }
  a->begun++;
  snprintf(file, sizeof file, "%.4200s/journal.jsonl", path);
  FILE *in = orr_text_open(file);
  while (in && (c = fgetc(in)) != EOF)
    a->rows += c == '\n';
  if (in)
    fclose(in);
}

enum orr_exit orr_slurm_status(const struct orr_folder *f) {
  struct attempts a = {0, 0, 0};
  each_entry(f, "attempts", &a, count_attempt);
  printf("flown       %lld of %lld, in %lld attempts that are complete\n", (long long)f->rows,
         (long long)f->campaign->flights, (long long)a.complete);
  printf("under way   %lld attempts, with %lld flights, or what nodes that died have left\n", (long long)a.begun,
         (long long)a.rows);
  orr_slurm_say_refused(f);
  return f->rows == f->campaign->flights ? ORR_EXIT_OK : ORR_EXIT_INCOMPLETE;
}
