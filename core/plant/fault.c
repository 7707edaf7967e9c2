#include "core/plant/fault.h"

#include "core/math/elementary.h"

/* ---- devices ----------------------------------------------------------------------------------------------------- */

void orr_trouble_init(struct orr_trouble *trouble, const struct orr_plant *plant, int device) {
  const struct orr_device_kind *kind = plant->devices[device].kind;
  *trouble = (struct orr_trouble){.kind = *kind, .healthy = kind};
}

void orr_device_break(struct orr_plant *plant, int device, struct orr_trouble *trouble,
                      const struct orr_device_fault *fault, double number, int64_t since_ns, double from) {
  struct orr_device *d = &plant->devices[device];
  trouble->kind.apply = fault->apply ? fault->apply : trouble->healthy->apply;
  trouble->kind.sense = fault->sense ? fault->sense : trouble->healthy->sense;
  trouble->number = number;
  trouble->since_ns = since_ns;
  trouble->from = from;
  d->trouble = trouble;
  d->kind = &trouble->kind;
}

void orr_device_mend(struct orr_plant *plant, int device, const struct orr_trouble *trouble) {
  plant->devices[device].kind = trouble->healthy;
  plant->devices[device].trouble = NULL;
}

double orr_rotor_speed(const struct orr_plant *plant, int device) {
  int rotor = plant->devices[device].rotor;
  return rotor >= 0 ? plant->integration->spin[rotor] : 0;
}

/* ---- hinges ------------------------------------------------------------------------------------------------------ */

/* β̇ = −β/(what is left of the time to rest, a frame at least), chosen at the start of each frame and held in it. */
static void brake(const struct orr_plant *p, struct orr_jam *jam, const struct orr_limb *limb,
                  const struct orr_evaluation_point *point) {
  double left_s = orr_max(p->acting.frame_s, 1e-9 * (double)(jam->rest_ns - point->start_ns));
  for (int i = 0; i < limb->dof; i++)
    jam->acceleration[i] = -p->ws->u[limb->hinge_u + i] / left_s;
}

static void act_with_jams(struct orr_drive *drive, struct orr_workspace *ws, const struct orr_evaluation_point *point,
                          double *force, double *given) {
  struct orr_plant *p = (struct orr_plant *)drive;
  orr_plant_act(drive, ws, point, force, given);
  for (int j = 0; j < p->jam_count; j++) {
    struct orr_jam *jam = &p->jams[j];
    const struct orr_limb *limb = &p->model->limbs[p->model->limb_of_body[jam->body]];
    if (!jam->on)
      continue;
    if (point->index == 0 && p->acting.first)
      brake(p, jam, limb, point);
    for (int i = 0; i < limb->dof; i++)
      given[limb->hinge_u + i] = jam->acceleration[i];
  }
}

void orr_plant_jams(struct orr_plant *plant, struct orr_jam *jams, int count) {
  plant->jams = jams;
  plant->jam_count = count;
}

void orr_hinge_jam(struct orr_plant *plant, int index, int64_t rest_ns) {
  struct orr_jam *jam = &plant->jams[index];
  bool *prescribed = &plant->ws->prescribed[plant->model->limb_of_body[jam->body]];
  if (!jam->on)
    jam->was_prescribed = *prescribed;
  jam->on = *prescribed = true;
  jam->rest_ns = rest_ns;
  memset(jam->acceleration, 0, sizeof jam->acceleration);
  plant->drive.apply = act_with_jams;
}

void orr_hinge_release(struct orr_plant *plant, int index) {
  struct orr_jam *jam = &plant->jams[index];
  bool any = false;
  if (jam->on)
    plant->ws->prescribed[plant->model->limb_of_body[jam->body]] = jam->was_prescribed;
  jam->on = false;
  for (int i = 0; i < plant->jam_count; i++)
    any |= plant->jams[i].on;
  plant->drive.apply = any ? act_with_jams : orr_plant_act;
}
