! Requests are completed by waitany and waitsome, whose indices count from 0 in the mpi_f08 of MPICH 4.0; alltoallw.
program some
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(4)
  type(MPI_Datatype) :: types(2)
#else
  use mpi
  implicit none
  integer :: requests(4), types(2)
#endif
  integer :: nothing(1) = -1
  integer :: rank, error, many, over, places(4), counts(2) = [1, 1], starts(2) = [0, 8]
  double precision :: mine(100), all(100)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  types = MPI_DOUBLE_PRECISION
  call begin(4)
  do over = 1, 2
    call MPI_Waitany(4, requests, many, MPI_STATUS_IGNORE, error)
  end do
  call begin(5)
  over = 0
  do while (over < 2) ! in MPICH 4.0 an index of none is no MPI_UNDEFINED
    call MPI_Waitsome(4, requests, many, places, MPI_STATUSES_IGNORE, error)
    over = over + many
  end do
  call MPI_Alltoallw(mine, counts, starts, types, all, counts, starts, types, MPI_COMM_WORLD, error)
  call MPI_Alltoallv(MPI_IN_PLACE, nothing, nothing, MPI_DATATYPE_NULL, all, counts, [0, 1], types(1), &
                     MPI_COMM_WORLD, error)
  if (rank == 1) then
    call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, [2, 3], [0, 2], types(1), 1, MPI_COMM_WORLD, error)
  else
    call MPI_Gatherv(mine, 2, types(1), all, nothing, nothing, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD, error)
  end if
  call MPI_Recv_init(all, 100, types(1), 1 - rank, 6, MPI_COMM_WORLD, requests(1), error)
  call MPI_Send_init(mine, 7, types(1), 1 - rank, 6, MPI_COMM_WORLD, requests(2), error)
  call MPI_Startall(2, requests, error)
  do over = 1, 2
    call MPI_Waitany(2, requests, many, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Request_free(requests(1), error)
  call MPI_Request_free(requests(2), error)
  call MPI_Finalize(error)
contains
  subroutine begin(tag)
    integer, intent(in) :: tag
    requests = MPI_REQUEST_NULL
    call MPI_Irecv(all, 100, MPI_DOUBLE_PRECISION, 1 - rank, tag, MPI_COMM_WORLD, requests(2), error)
    call MPI_Isend(mine, 5, MPI_DOUBLE_PRECISION, 1 - rank, tag, MPI_COMM_WORLD, requests(4), error)
  end subroutine
end program
