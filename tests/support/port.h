/* A UDP port of 127.0.0.1 that was free a moment ago. */
#ifndef ORR_TESTS_SUPPORT_PORT_H
#define ORR_TESTS_SUPPORT_PORT_H

#include <stdint.h>

/* Ends the program when there is none. */
uint16_t orr_port_free(void);

#endif
