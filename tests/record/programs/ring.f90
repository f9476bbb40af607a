! Twenty turns of a ring and a sum, by the module that BINDING names; an ignored status and MPI_IN_PLACE among them.
program ring
#if defined(BINDING_MPIF)
    implicit none
    include 'mpif.h'
    integer :: requests(2)
#elif defined(BINDING_MPI)
    use mpi
    implicit none
    integer :: requests(2)
#else
    use mpi_f08
    implicit none
    type(MPI_Request) :: requests(2)
#endif
    integer :: rank, ranks, turn, error
    double precision :: sent, got, total(2)
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    do turn = 1, 20
        sent = rank
        call MPI_Irecv(got, 1, MPI_DOUBLE_PRECISION, modulo(rank - 1, ranks), 4, MPI_COMM_WORLD, requests(1), error)
        call MPI_Isend(sent, 1, MPI_DOUBLE_PRECISION, modulo(rank + 1, ranks), 4, MPI_COMM_WORLD, requests(2), error)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        total = got
        call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    end do
    if (total(1) /= ranks * (ranks - 1) / 2) stop 7
    call MPI_Finalize(error)
end program
