! The same of two collectives in Fortran, by which MPI_IN_PLACE is a variable of its own.
program in_place
#ifdef F08
   use mpi_f08
#else
   use mpi
#endif
   implicit none
   integer :: code, from(100), to(400)
   call MPI_Init(code)
   from = 1
   to = 1
   call MPI_Allreduce(from, to, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
   call MPI_Allgather(from, 100, MPI_INTEGER, to, 100, MPI_INTEGER, MPI_COMM_WORLD, code)
   call MPI_Allreduce(MPI_IN_PLACE, to, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
   call MPI_Allgather(MPI_IN_PLACE, 100, MPI_INTEGER, to, 100, MPI_INTEGER, MPI_COMM_WORLD, code)
   call MPI_Finalize(code)
end program in_place
