"""Tests of the room `mpi`: what is found, what each library is told, and how ranks are started."""
