/* Faults of devices and hinges of a plant, begun and ended between two frames.
 *
 * A fault of a device exchanges the device's kind for one with other functions, and a jam exchanges what the
 * integration calls: a plant in which nothing can break does not know of it. Memory is the caller's, who lays it out
 * before the run and remembers, for saved states, what is broken since when.
 *
 * Call order: orr_plant_init → orr_trouble_init for each device that can break, orr_plant_jams for the hinges [init] →
 * the rest [rt], between two frames.
 */
#ifndef ORR_CORE_PLANT_FAULT_H
#define ORR_CORE_PLANT_FAULT_H

#include "core/plant/plant.h"

/* What a device has while it is broken. */
struct orr_trouble {
  struct orr_device_kind kind; /* that of the device, with the functions of the fault */
  const struct orr_device_kind *healthy;
  double number;    /* of the fault */
  int64_t since_ns; /* when it began */
  double from;      /* the speed of the device's rotor then, rad/s */
};

/* A hinge that can jam: within the frame it comes to rest where it is, or evenly within `over_s`, and then stays. The
 * plant prescribes it meanwhile, so what its motion was goes into the bodies that it joins.
 *
 * A hinge that has a motion stays on its way: the motion's clock comes to a stand evenly, and up to pace again after
 * the release (core/plant/motions.h).
 *
 * In closed loops a jam may take a freedom that others have taken already. Then it holds nothing until they let go: of
 * jams of one mechanism those hold that are at rest first, and of these the first. Where hinges or loops of it have
 * motions or are prescribed, a jam holds in any case, and the solver says so where the two do not fit together. */
struct orr_jam {
  int body;            /* file order */
  bool on;             /* it is jammed */
  bool holds;          /* and prescribed for that */
  bool settled;        /* scratch of orr_plant_settle_jams */
  bool was_prescribed; /* before */
  bool has_clock;      /* its motion goes by `clock` */
  int64_t rest_ns;     /* when it is to be at rest */
  double acceleration[6];
  struct orr_motion_clock clock;
};

/* What a jam has beside `on` and `rest_ns`, as words of a run's state. */
enum { ORR_JAM_WORDS = 6 };

/* [init] The device is healthy. */
void orr_trouble_init(struct orr_trouble *trouble, const struct orr_plant *plant, int device);

/* [rt] The device has this fault from the frame that is flown next, whatever it had before; `from` is
 * orr_rotor_speed when it began. O(1). */
void orr_device_break(struct orr_plant *plant, int device, struct orr_trouble *trouble,
                      const struct orr_device_fault *fault, double number, int64_t since_ns, double from);
void orr_device_mend(struct orr_plant *plant, int device, const struct orr_trouble *trouble);

/* [any] The speed of a device's rotor, rad/s; 0 without one. O(1). */
double orr_rotor_speed(const struct orr_plant *plant, int device);

/* [init] The hinges that can jam; none is, and the clocks of their motions go with time. O(jams motions). */
void orr_plant_jams(struct orr_plant *plant, struct orr_jam *jams, int count);

/* [rt] Jam `index` from the frame that is flown next, at rest at `rest_ns`; and released. O(1); with closed loops
 * orr_plant_settle_jams must follow before the plant goes on. */
void orr_hinge_jam(struct orr_plant *plant, int index, int64_t rest_ns);
void orr_hinge_release(struct orr_plant *plant, int index);

/* [rt] Which jams hold where there are closed loops, and which loop equations are independent then, at coordinates q
 * [q_count]. Does nothing without loops or jams. O(jams² + jams · (rows² · columns)). */
void orr_plant_settle_jams(struct orr_plant *plant, const double *q);

/* [any] The words of a jam; whether words that are not trusted can be those of a jam at this time; and setting them,
 * after orr_hinge_jam or orr_hinge_release. */
void orr_jam_words_get(const struct orr_jam *jam, uint64_t words[ORR_JAM_WORDS]);
bool orr_jam_words_are_sound(const struct orr_jam *jam, const uint64_t words[ORR_JAM_WORDS], int64_t now_ns);
void orr_jam_words_put(struct orr_jam *jam, const uint64_t words[ORR_JAM_WORDS]);

#endif
