! Counts of MPI_COUNT_KIND, which mpi_f08 has under the usual names.
program large
  use mpi_f08
  implicit none
  integer :: rank, size
  integer(MPI_COUNT_KIND) :: count = 5
  double precision :: out(8) = 0, in(8) = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Sendrecv(out, count, MPI_DOUBLE_PRECISION, mod(rank + 1, size), 1, in, count, &
                    MPI_DOUBLE_PRECISION, mod(rank + size - 1, size), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Allreduce(out, in, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
