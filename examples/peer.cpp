// Flight software in C++17: brakes the spacecraft by its x wheel.
//
//   c++ -std=c++17 peer.cpp $(pkg-config --cflags --libs orrery-client) -o peer
//   orrery run cubesat.yaml --mode lockstep & ./peer shm:/orrery.fsw
#include <cerrno>
#include <cstdio>

#include "io/client/client.h"

int main(int argc, char **argv) {
  orr_client link;
  if (orr_client_open(&link, argc > 1 ? argv[1] : "shm:/orrery.fsw", 10000) != 0) {
    std::fprintf(stderr, "%s\n", link.error);
    return 1;
  }
  const orr_signal gyro = orr_client_find(&link, "gyro.rate"), wheel = orr_client_find(&link, "wheel_x.torque");
  if (!gyro.count || !wheel.count) { // link.error says which is not there, and what is near
    std::fprintf(stderr, "%s\n", link.error);
    orr_client_close(&link);
    return 1;
  }
  int got;
  while ((got = orr_client_wait(&link, ORR_CLIENT_FUTEX, 10000)) > 0) {
    orr_client_set(&link, wheel, 0, 0.02 * orr_client_get(&link, gyro, 0));
    orr_client_send(&link);
  }
  std::fprintf(stderr, "%s\n", orr_client_why(got));
  orr_client_close(&link);
  return got == -EPIPE ? 0 : 1; // the run is over
}
