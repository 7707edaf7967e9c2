/* A campaign on a cluster of Slurm: a job array through sbatch, whose tasks fly parts of it into a shared folder, and a
 * job behind it that gathers. [init]
 *
 * Task k of K flies the flights from k N/K to before (k + 1) N/K. Each attempt of a task has a folder of its own below
 * FOLDER/attempts; only one that came to its end counts. What a node that died has left is flown again. */
#ifndef ORR_TOOLS_CAMPAIGN_CAMPAIGN_SLURM_H
#define ORR_TOOLS_CAMPAIGN_CAMPAIGN_SLURM_H

#include "tools/campaign/campaign_folder.h"
#include "tools/common/ending.h"

struct orr_slurm_request {
  const char *partition; /* NULL: the cluster's default */
  int64_t tasks;         /* of the array; at most as many as flights */
  int cpus;              /* of each task: so many workers */
  bool print_only;       /* the scripts and commands, on standard output, and nothing is submitted */
};

/* Writes the scripts of the folder and submits them; says what it did. */
enum orr_exit orr_slurm_submit(const struct orr_slurm_request *request, const struct orr_folder *folder);

/* One task: `words` as the script has them. */
enum orr_exit orr_slurm_work(struct orr_folder *folder, int64_t task, int64_t tasks, const char *attempt, int jobs);

/* A node that may not fly leaves its name, for status and gather. */
void orr_slurm_refused(const char *folder);

/* How far it is, on standard output. */
enum orr_exit orr_slurm_status(const struct orr_folder *folder);

/* Says on standard error which nodes were refused. */
void orr_slurm_say_refused(const struct orr_folder *folder);

#endif
