"""Flight software in Python: brakes the spacecraft by its x wheel.

orrery run cubesat.yaml --mode lockstep & python3 peer.py shm:/orrery.fsw
"""
import sys

import orrery_client

with orrery_client.open(sys.argv[1] if len(sys.argv) > 1 else "shm:/orrery.fsw") as link:
    while link.wait():
        link.send({"wheel_x.torque": 0.02 * link["gyro.rate"][0]})
