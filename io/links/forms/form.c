#include "io/links/forms/form.h"

const struct orr_form *orr_form_of(const struct orr_run_link *desc) {
  return desc->layout ? &orr_form_telegram : desc->form == ORR_FORM_CFE ? &orr_form_cfe : &orr_form_orrery;
}
