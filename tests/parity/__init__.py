"""The same random work through the simulator and through the real Kueue: who is admitted, and who has to go."""
