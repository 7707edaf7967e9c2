/* A description as a model of MuJoCo's, for the programs of this folder that compare: rigid bodies on free, fixed,
 * revolute, universal and gimbal hinges, with their springs and dampers; no gravity, no contacts. [init] */
#ifndef ORR_TESTS_BENCH_MJCF_H
#define ORR_TESTS_BENCH_MJCF_H

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/model/description.h"

/* A body and, nested in it, those that hang on it. */
static void mjcf_write_body(FILE *out, const struct orr_description *d, int body) {
  const struct orr_body_desc *b = &d->bodies[body];
  const struct orr_hinge_desc *h = &b->hinge;
  static const double zero[3] = {0, 0, 0};
  const double *at = h->parent >= 0 ? d->bodies[h->parent].nodes[h->parent_node].at : zero;
  int axes = h->kind == ORR_HINGE_GIMBAL ? 3 : h->kind == ORR_HINGE_UNIVERSAL ? 2 : h->kind == ORR_HINGE_REVOLUTE;
  fprintf(out, "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>\n", at[0], at[1], at[2], h->rotation[3],
          h->rotation[0], h->rotation[1], h->rotation[2]);
  if (h->kind == ORR_HINGE_FREE)
    fputs("<freejoint/>\n", out);
  for (int k = 0; k < axes; k++)
    fprintf(out, "<joint type='hinge' axis='%.17g %.17g %.17g' stiffness='%.17g' damping='%.17g'/>\n", h->axes[k][0],
            h->axes[k][1], h->axes[k][2], h->stiffness[k], h->damping[k]);
  fprintf(out, "<inertial pos='%.17g %.17g %.17g' mass='%.17g' fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'/>\n",
          b->com[0], b->com[1], b->com[2], b->mass, b->inertia[0], b->inertia[1], b->inertia[2], b->inertia[3],
          b->inertia[4], b->inertia[5]);
  for (size_t i = 0; i < d->body_count; i++)
    if (d->bodies[i].hinge.parent == body)
      mjcf_write_body(out, d, (int)i);
  fputs("</body>\n", out);
}

/* `option`: attributes of MuJoCo's element of that name, beside gravity. Ends the program where MuJoCo does not take
 * the model. */
static mjModel *mjcf_model(const struct orr_description *d, const char *option) {
  char *text = NULL, error[300] = "";
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  mjVFS *vfs = malloc(sizeof *vfs);
  if (!out || !vfs)
    abort();
  fprintf(
      out,
      "<mujoco><compiler angle='radian'/><option gravity='0 0 0' %s><flag contact='disable'/></option><worldbody>\n",
      option);
  for (size_t i = 0; i < d->body_count; i++)
    if (d->bodies[i].hinge.parent < 0)
      mjcf_write_body(out, d, (int)i);
  fputs("</worldbody></mujoco>\n", out);
  fclose(out);
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "model.xml", (int)size);
  memcpy(vfs->filedata[mj_findFileVFS(vfs, "model.xml")], text, size);
  mjModel *model = mj_loadXML("model.xml", vfs, error, sizeof error);
  mj_deleteVFS(vfs);
  free(vfs);
  free(text);
  if (!model) {
    fprintf(stderr, "mujoco: %s\n", error);
    exit(1);
  }
  return model;
}

#endif
