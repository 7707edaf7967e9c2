/* `orrery eval`: one evaluation of the equations of motion, as data. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/config/spacecraft/case.h"
#include "io/config/text/unit.h"
#include "io/session/status_text.h"
#include "tools/common/commands.h"
#include "tools/common/json_numbers.h"
#include "tools/eval/evaluation.h"
#include "tools/eval/trajectory.h"
#include "tools/eval/vector.h"

struct arguments {
  const char *model, *given;
  bool inverse, composite, factors;
  const char *solve; /* the word behind --solve */
  char **operational;
  int operational_count;
  struct orr_trajectory *trajectory; /* its count is 0 unless --trajectory is there */
  const char *step, *integrator;
};

static int usage(const char *what, const char *word) {
  fprintf(stderr, "orrery eval: %s%s%s%s\nTry 'orrery help eval'.\n", what, word ? " '" : "", word ? word : "",
          word ? "'" : "");
  return ORR_EXIT_USAGE;
}

static int parse_method(const char *name, struct arguments *a) {
  if (name && strcmp(name, "composite") == 0)
    a->composite = true;
  else if (!name || strcmp(name, "articulated") != 0)
    return usage("--method takes 'articulated' or 'composite', not", name ? name : "");
  return ORR_EXIT_OK;
}

static int parse_operational(int argc, char **argv, int *i, struct arguments *a) {
  a->operational = argv + *i + 1;
  while (*i + 1 < argc && argv[*i + 1][0] != '-') {
    a->operational_count++;
    ++*i;
  }
  return a->operational_count ? ORR_EXIT_OK : usage("--operational needs at least one BODY.NODE", NULL);
}

/* Options with a value; `word` may also be an option that is none. */
static int parse_valued(const char *word, const char *value, struct arguments *a) {
  bool solve = strcmp(word, "--solve") == 0;
  if (!solve && strcmp(word, "--trajectory") != 0 && strcmp(word, "--step") != 0 && strcmp(word, "--integrator") != 0)
    return usage("unknown option", word);
  if (!value)
    return usage("a value is missing after", word);
  if (solve)
    a->solve = value;
  else if (strcmp(word, "--step") == 0)
    a->step = value;
  else if (strcmp(word, "--integrator") == 0)
    a->integrator = value;
  else if (orr_trajectory_parse(a->trajectory, value))
    return usage(orr_trajectory_parse(a->trajectory, value), value);
  return ORR_EXIT_OK;
}

static int finish_motion(struct arguments *a) {
  struct orr_quantity q;
  a->trajectory->step_ns = 1000000;
  a->trajectory->integrator = ORR_RK4;
  if (!a->trajectory->count)
    return a->step || a->integrator ? usage("--step and --integrator go with --trajectory", NULL) : ORR_EXIT_OK;
  if (a->inverse || a->composite || a->operational_count || a->factors || a->solve)
    return usage("--trajectory goes with --step and --integrator only", NULL);
  if (a->step && (orr_quantity_parse_time(a->step, &q) != ORR_QUANTITY_OK || q.ns <= 0))
    return usage("--step takes a time such as 1ms, not", a->step);
  if (a->step)
    a->trajectory->step_ns = q.ns;
  for (int k = 0; a->integrator && k < ORR_INTEGRATOR_COUNT; k++) {
    if (strcmp(a->integrator, orr_integrator_names[k]) != 0)
      continue;
    a->trajectory->integrator = (enum orr_integrator)k;
    a->integrator = NULL;
  }
  return a->integrator ? usage("unknown integrator", a->integrator) : ORR_EXIT_OK;
}

static int parse(int argc, char **argv, struct arguments *a) {
  int status = ORR_EXIT_OK;
  for (int i = 1; i < argc && status == ORR_EXIT_OK; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--inverse") == 0)
      a->inverse = true;
    else if (strcmp(word, "--factors") == 0)
      a->factors = true;
    else if (strcmp(word, "--method") == 0)
      status = parse_method(argv[++i], a);
    else if (strcmp(word, "--operational") == 0)
      status = parse_operational(argc, argv, &i, a);
    else if (word[0] == '-' && word[1])
      status = parse_valued(word, argv[++i], a);
    else if (!a->model)
      a->model = word;
    else if (!a->given)
      a->given = word;
    else
      status = usage("one model and one case, not also", word);
  }
  if (status != ORR_EXIT_OK)
    return status;
  if (!a->given)
    return usage("needs a model file and a case file", NULL);
  if (a->inverse && a->composite)
    return usage("--method is for accelerations; it does not go with --inverse", NULL);
  return finish_motion(a);
}

/* BODY.NODE as a node's index; false with a message. */
static bool find_node(const struct orr_config *config, const struct orr_model *model, const char *word, int *out) {
  const char *dot = strrchr(word, '.');
  if (dot) {
    char *name = strndup(word, (size_t)(dot - word));
    int body = orr_config_find_body(config, name);
    int node = body >= 0 ? orr_config_find_node(config, body, dot + 1) : -1;
    free(name);
    if (node >= 0) {
      *out = orr_model_node(model, body, node);
      return true;
    }
  }
  fprintf(stderr, "orrery eval: --operational: no node '%s' in the model; nodes are written BODY.NODE\n", word);
  return false;
}

static int print(const struct arguments *a, json_t *result) {
  char place[200];
  int exit_status = orr_json_is_finite(result, place, sizeof place) ? ORR_EXIT_OK : ORR_EXIT_BAD;
  if (exit_status == ORR_EXIT_OK) {
    json_dumpf(result, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    putchar('\n');
  } else {
    fprintf(stderr, "%s: error: %s of the result is not a finite number; are masses or speeds of the case absurd?\n",
            a->given, place);
  }
  json_decref(result);
  return exit_status;
}

static void report(const struct arguments *a, const struct orr_evaluation *e, const char *when, int body,
                   enum orr_status status) {
  if (orr_status_is_of_loop(status))
    fprintf(stderr, "%s: error: no solution %s: loop %d of the model: %s\n", a->given, when,
            e->build.closed->failed_loop + 1, orr_status_text(status));
  else
    fprintf(stderr, "%s: error: no solution %s: body '%s': %s\n", a->given, when,
            body >= 0 ? e->description->bodies[body].name : "?", orr_status_text(status));
}

static int move(const struct arguments *a, struct orr_evaluation *e) {
  enum orr_status status;
  double time_s;
  char when[64];
  int body;
  json_t *result = orr_trajectory_run(a->trajectory, e, &status, &body, &time_s);
  if (result)
    return print(a, result);
  snprintf(when, sizeof when, "at t = %.9g s", time_s);
  report(a, e, when, body, status);
  return ORR_EXIT_BAD;
}

/* The case's state closes the loops; false with a message. */
static bool loops_fit(const struct arguments *a, struct orr_evaluation *e) {
  char what[128];
  int loop = orr_evaluation_open_loop(e, what, sizeof what);
  if (loop >= 0)
    fprintf(stderr, "%s: error: loop %d of the model %s\n", a->given, loop + 1, what);
  return loop < 0;
}

/* Options that a model with closed loops cannot serve; false with a message. */
static bool is_tree_enough(const struct arguments *a, const struct orr_description *description) {
  const char *option = a->composite ? "--method composite" : a->factors ? "--factors" : a->solve ? "--solve" : NULL;
  if (!option || !description->loop_count)
    return true;
  fprintf(stderr, "%s: error: %s is for trees, and this model has closed loops\n", a->model, option);
  return false;
}

/* The vector of --solve has a number for each speed; false with a message that says how many each body takes. */
static bool solve_fits(const struct arguments *a, const struct orr_evaluation *e, const struct orr_vector *vector) {
  enum { SHOWN = 12 };
  const struct orr_model *m = e->build.model;
  if (vector->count == (size_t)m->u_count)
    return true;
  fprintf(stderr,
          "orrery eval: --solve: '%.40s' has %zu numbers and the model has %d speeds; give one for each:", a->solve,
          vector->count, m->u_count);
  for (int i = 0; i < m->body_count && i < SHOWN; i++) {
    const struct orr_limb *limb = &m->limbs[m->limb_of_body[i]];
    fprintf(stderr, "%s %s ", i ? "," : "", e->description->bodies[i].name);
    if (limb->mode_count)
      fprintf(stderr, "%d of modes and ", limb->mode_count);
    fprintf(stderr, "%d", limb->dof);
  }
  fprintf(stderr, "%s\n", m->body_count > SHOWN ? ", …" : "");
  return false;
}

static int vector_status(const struct orr_vector *vector) { return vector->from_file ? ORR_EXIT_BAD : ORR_EXIT_USAGE; }

static int evaluate(const struct arguments *a, const struct orr_config *config, const struct orr_case *given,
                    const struct orr_vector *vector) {
  const struct orr_description *description = orr_config_description(config);
  if (!is_tree_enough(a, description))
    return ORR_EXIT_BAD;
  struct orr_evaluation e;
  int body = -1, exit_status = ORR_EXIT_BAD;
  orr_evaluation_create(&e, description, given);
  e.inverse = a->inverse;
  e.composite = a->composite;
  e.factors = a->factors;
  e.solve = vector->numbers;
  e.operational = orr_aligned_block(sizeof(int) * (size_t)(a->operational_count + 1));
  bool found = true;
  for (int i = 0; i < a->operational_count; i++)
    found = find_node(config, e.build.model, a->operational[i], &e.operational[e.operational_count++]) && found;
  if (!found || (!a->inverse && !loops_fit(a, &e))) {
    /* said already */
  } else if (a->solve && !solve_fits(a, &e, vector)) {
    exit_status = vector_status(vector);
  } else if (a->trajectory->count) {
    exit_status = move(a, &e);
  } else {
    enum orr_status status = orr_evaluation_run(&e, &body);
    if (status == ORR_OK)
      exit_status = print(a, orr_evaluation_json(&e));
    else
      report(a, &e, "at this state", body, status);
  }
  orr_evaluation_destroy(&e);
  return exit_status;
}

static int evaluate_files(const struct arguments *a) {
  static const struct orr_config_options options = {.state_follows = true};
  struct orr_vector vector = {0};
  if (a->solve && !orr_vector_read(&vector, a->solve)) {
    fprintf(stderr, "orrery eval: --solve: %s; it takes numbers such as 1,0,-0.5, or @FILE that holds them\n",
            vector.error);
    free(vector.numbers);
    return vector_status(&vector);
  }
  struct orr_diagnostics *diagnostics = orr_diagnostics_create();
  struct orr_config *config = orr_config_load(a->model, &options, diagnostics);
  const struct orr_case *given =
      config ? orr_case_load(a->given, config, a->inverse ? ORR_CASE_INVERSE : ORR_CASE_FORWARD, NULL) : NULL;
  orr_diagnostics_print(diagnostics, 0, stderr, false);
  int status = given ? evaluate(a, config, given, &vector) : ORR_EXIT_BAD;
  orr_diagnostics_destroy(diagnostics);
  free(vector.numbers);
  return status;
}

static int run(int argc, char **argv) {
  struct arguments a = {.trajectory = calloc(1, sizeof *a.trajectory)};
  if (!a.trajectory)
    abort();
  int status = parse(argc, argv, &a);
  if (status == ORR_EXIT_OK)
    status = evaluate_files(&a);
  free(a.trajectory);
  return status;
}

const struct orr_command orr_cmd_eval = {
    .name = "eval",
    .summary = "evaluate the equations of motion once and print everything as JSON",
    .usage = "MODEL CASE [--inverse | --method composite] [--operational BODY.NODE...] [--solve VECTOR] [--factors] "
             "[--trajectory T1,T2,...]",
    .help = "Reads a model file and a case (a state, and the forces and prescribed accelerations on it) and\n"
            "prints one JSON object: for every body its acceleration, modal accelerations, the force through its\n"
            "hinge, its place and those of its nodes; for the system the mass matrix and the logarithm of its\n"
            "determinant, kinetic and potential energy and momentum. SI units, 17 significant digits.\n"
            "\n"
            "  --inverse             the case gives accelerations; the forces that they need come back\n"
            "  --method composite    accelerations from the composite-body mass matrix, an independent O(N^3) way\n"
            "  --method articulated  accelerations from the O(N) articulated sweep (the default)\n"
            "  --operational BODY.NODE...\n"
            "                        adds compliance and inertia of these nodes: [angular; linear], inertial\n"
            "                        axes; no inertia (null) where they cannot move each way by themselves\n"
            "  --solve VECTOR        adds `solution`, the inverse of the mass matrix times VECTOR, and\n"
            "                        `residual`, the mass matrix times it less VECTOR: one number for each speed\n"
            "                        in the order of the mass matrix (bodies as in the file, modes before their\n"
            "                        hinge); 1,0,-0.5, or @FILE that holds numbers, also as a JSON array\n"
            "  --factors             adds `factors`: D, H, M and Phi of every body, I + H Phi K and I - H Psi K,\n"
            "                        so that M = (I + H Phi K) D (I + H Phi K)* = H Phi M Phi* H*;\n"
            "                        configs/conventions.md says more. --solve and --factors release prescribed\n"
            "                        hinges and refuse closed loops\n"
            "  --trajectory T1,T2,...\n"
            "                        in place of all that: the state, energies and momentum at these times (s),\n"
            "                        moving from the case's state under its constant forces; --step 1ms,\n"
            "                        --integrator rk4 (heun, semi_implicit, implicit_modal)\n"
            "\n"
            "Example:\n"
            "  orrery eval ship.yaml case.yaml --operational bus.origin\n"
            "\n"
            "Exit status: 0 done; 1 a file is wrong or there is no solution at this state; 2 the command line is\n"
            "wrong.\n",
    .run = run,
};
