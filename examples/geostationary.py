"""Flight software for configs/geostationary.yaml: looks down on its wheels and keeps its wings to the Sun, through the shadow of the Earth.

    orrery run configs/geostationary.yaml --mode lockstep & python3 geostationary.py shm:/orrery.fsw

The bus: torque = -I (w^2 angle + 2 z w rate) + rate x h, where h is what the wheels hold, and an integral, so that the light on its reflectors leaves
no error behind. The wings: each turns with the orbit, and faster or slower by what its sun sensor says; without the Sun it goes on with the orbit.
"""
import math
import sys

import orrery_client
from detumble import back, cross, dot, small, times

WHEELS = ("wheel_x", "wheel_y", "wheel_z")
WINGS = {"south": 1, "north": -1}  # about which way its drive turns with the orbit
INERTIA = (4900, 1350, 4900)  # kg m^2
ROTOR = 0.12  # kg m^2
BANDWIDTH, DAMPING, INTEGRAL = 0.012, 0.8, 0.001  # rad/s; ratio; 1/s
ROLL_OFF = 0.1  # rad/s: well below the wings' first mode, which the delay of a sample would make swing
ORBIT = 7.2921e-5  # rad/s
FOLLOW, FASTEST = 0.01, math.radians(0.1)  # 1/s; rad/s


class Flight:
    def __init__(self):
        self.time, self.target = None, None
        self.held, self.smooth = [0, 0, 0], [0, 0, 0]  # rad; N m

    def point(self, time, rate, star, target, speeds):
        """Torque on the bus, N m, in its axes."""
        dt = time - self.time if self.time is not None else 0
        torque = (0, 0, 0)
        if dt > 0 and star:
            off = times(back(target), star)
            ahead = [x / dt for x in small(times(back(self.target), target))]
            ahead = times(times(back(off), (*ahead, 0)), off)[:3]
            error = small(off)
            if dot(error, error) < 1e-4:
                self.held = [h + INTEGRAL * dt * e for h, e in zip(self.held, error)]
            wanted = [-i * (BANDWIDTH**2 * (e + h) + 2 * DAMPING * BANDWIDTH * (w - a))
                      for i, e, h, w, a in zip(INERTIA, error, self.held, rate, ahead)]
            part = 1 - math.exp(-ROLL_OFF * dt)
            self.smooth = [s + part * (x - s) for s, x in zip(self.smooth, wanted)]
            torque = [s + c for s, c in zip(self.smooth, cross(rate, [ROTOR * x for x in speeds]))]
        self.time, self.target = time, target
        return torque


def follow(way, sun):
    """Rate of a wing's drive, rad/s; `sun` in the wing's axes, z to be turned to it about y, or None."""
    rate = way * ORBIT
    if sun:
        rate += FOLLOW * math.atan2(sun[0], sun[2])
    return max(-FASTEST, min(FASTEST, rate))


def fly(link):
    flight = Flight()
    while link.wait(30):
        torque = flight.point(1e-9 * link.time_ns, link["gyro.rate"], link["star.valid"] and link["star.attitude"], link["bus.target"],
                              [link[w + ".speed"] for w in WHEELS])
        commands = {w + ".torque": -t for w, t in zip(WHEELS, torque)}  # on the rotors; the body feels the opposite
        for wing, way in WINGS.items():
            sun = link[f"sun_{wing}.valid"] and link[f"sun_{wing}.direction"]
            commands[f"drive_{wing}.rate"] = follow(way, sun)
        link.send(commands)


if __name__ == "__main__":
    with orrery_client.open(sys.argv[1] if len(sys.argv) > 1 else "shm:/orrery.fsw", 30) as link:
        fly(link)
