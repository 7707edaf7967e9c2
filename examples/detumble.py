"""Flight software for configs/detumble.yaml: stops a tumbling cubesat with its magnetorquers, then points it to the Earth with its wheels.

    orrery run configs/detumble.yaml --mode lockstep & python3 detumble.py shm:/orrery.fsw

Tumbling, the rods push against the change of the field that the magnetometer feels: m = -G dB/dt / |B|^2, as far as they go. The field changes by the
turn of the spacecraft, so this takes its rate away, but for some turns an orbit that the field itself makes. When the gyro has told less than CALM for a
while, the wheels take over: torque = -I (w^2 angle + 2 z w rate), and the rods take from them what they hold: m = K h x B / |B|^2.
"""
import math
import sys

import orrery_client

RODS, WHEELS = ("rod_x", "rod_y", "rod_z"), ("wheel_x", "wheel_y", "wheel_z")
INERTIA = (0.042, 0.0425, 0.0067)  # kg m^2
MOST = 0.2  # A m^2, a rod's dipole
G = 1e-4  # kg m^2/s: the rate across the field goes in I/G; with more, what turns about the field stays longer
CALM, CALM_S = math.radians(0.4), 60  # rad/s; s
BANDWIDTH, DAMPING = 0.05, 0.9  # rad/s; ratio
ROTOR, DUMP = 1e-5, 2e-3  # kg m^2; 1/s


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def times(p, q):
    """Quaternions x y z w: the turn q, then the turn p."""
    v = [p[3] * y + q[3] * x + z for x, y, z in zip(p, q, cross(p, q))]
    return (*v, p[3] * q[3] - dot(p[:3], q[:3]))


def back(q):
    return (-q[0], -q[1], -q[2], q[3])


def turn(rate, seconds):
    angle = seconds * math.sqrt(dot(rate, rate))
    s = seconds * (math.sin(angle / 2) / angle if angle else 0.5)
    return (rate[0] * s, rate[1] * s, rate[2] * s, math.cos(angle / 2))


def small(q):
    """The short way round, as a vector of twice the quaternion's: the angle, when it is small."""
    return [math.copysign(2, q[3]) * x for x in q[:3]]


class Flight:
    def __init__(self):
        self.time, self.calm, self.pointing = None, 0, False
        self.field, self.attitude, self.target = None, None, None

    def step(self, time, field, rate, star, target, speeds):
        """Torques of the wheels, N m, and dipoles of the rods, A m^2."""
        dt = time - self.time if self.time is not None else 0
        self.follow(dt, rate, star)
        strength = dot(field, field)
        torque, dipole = (0, 0, 0), (0, 0, 0)
        if self.pointing and self.attitude:
            torque = self.point(dt, rate, target)
            held = [ROTOR * s for s in speeds]
            dipole = [DUMP * x / strength for x in cross(held, field)]
        elif dt > 0 and not self.pointing:
            dipole = [-G * (b - a) / dt / strength for a, b in zip(self.field, field)]
            self.calm = self.calm + dt if dot(rate, rate) < CALM**2 else 0
            self.pointing = self.calm >= CALM_S
        self.time, self.field, self.target = time, field, target
        return torque, [max(-MOST, min(MOST, m)) for m in dipole]

    def follow(self, dt, rate, star):
        """The attitude by the star tracker, by the gyro where that is blind."""
        if star:
            self.attitude = star
        elif self.attitude:
            self.attitude = times(self.attitude, turn(rate, dt))

    def point(self, dt, rate, target):
        off = times(back(target), self.attitude)
        ahead = small(times(back(self.target), target))  # how the target turns, in its axes
        ahead = times(times(back(off), (*[x / dt for x in ahead], 0)), off)[:3]
        return [-i * (BANDWIDTH**2 * angle + 2 * DAMPING * BANDWIDTH * (w - a))
                for i, angle, w, a in zip(INERTIA, small(off), rate, ahead)]


def fly(link):
    flight = Flight()
    while link.wait(30):
        torque, dipole = flight.step(1e-9 * link.time_ns, link["mag.field"], link["gyro.rate"], link["star.valid"] and link["star.attitude"],
                                     link["bus.target"], [link[w + ".speed"] for w in WHEELS])
        commands = {w + ".torque": -t for w, t in zip(WHEELS, torque)}  # on the rotors; the body feels the opposite
        commands.update({r + ".dipole": m for r, m in zip(RODS, dipole)})
        link.send(commands)


if __name__ == "__main__":
    with orrery_client.open(sys.argv[1] if len(sys.argv) > 1 else "shm:/orrery.fsw", 30) as link:
        fly(link)
