! Strings of Fortran pass through the recorder with their lengths: rank 0 accepts what rank 1 connects to.
program ports
    use mpi
    implicit none
    character(len=MPI_MAX_PORT_NAME) :: name
    integer :: error, rank, other
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    if (rank == 0) call MPI_Open_port(MPI_INFO_NULL, name, error)
    call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, error)
    if (rank == 0) then
        call MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, error)
    else
        call MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, error)
    end if
    call MPI_Comm_disconnect(other, error)
    call MPI_Finalize(error)
end program ports
