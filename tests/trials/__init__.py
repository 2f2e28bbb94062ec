"""The promises on the real client stack: faults on the wire, outages, bursts, and a long mixed load."""
