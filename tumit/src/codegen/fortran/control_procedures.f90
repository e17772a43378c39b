
!> The current timestamp, for arguments of type `date`: ticks of this process's clock.
function tumit_now() result(timestamp)
  integer(c_int64_t) :: timestamp
  timestamp = tumit_now_c()
end function tumit_now

!> A number that no other task of this process has, for the argument `task` of async spans.
function tumit_new_task() result(task)
  integer(c_int64_t) :: task
  task = tumit_new_task_c()
end function tumit_new_task

!> Starts recording with these choices. For absent or blank arguments, the environment decides.
!! The call is optional, because the first record starts recording, too. `folder` is the run
!! folder, and `live_folder` the folder of the live file. `policies` is as in TUMIT_POLICY
!! ('COM=block,APP=overwrite'). `buffers` is 'mapped' or 'private'. `memory_bytes` is the memory
!! for records that are not in the file yet. `error` is 0 or an errno: EALREADY when recording has
!! begun, or has ended. The program can continue in any case.
subroutine tumit_start(folder, live_folder, policies, buffers, memory_bytes, error)
  character(len=*), intent(in), optional :: folder, live_folder, policies, buffers
  integer(c_int64_t), intent(in), optional :: memory_bytes
  integer, intent(out), optional :: error
  character(len=:), allocatable :: texts
  integer(c_size_t) :: lengths(4)
  integer(c_int64_t) :: memory
  integer(c_int) :: failed
  texts = ''
  lengths = 0
  memory = 0
  if (present(folder)) then
    texts = texts//folder
    lengths(1) = len(folder, c_size_t)
  end if
  if (present(live_folder)) then
    texts = texts//live_folder
    lengths(2) = len(live_folder, c_size_t)
  end if
  if (present(policies)) then
    texts = texts//policies
    lengths(3) = len(policies, c_size_t)
  end if
  if (present(buffers)) then
    texts = texts//buffers
    lengths(4) = len(buffers, c_size_t)
  end if
  if (present(memory_bytes)) memory = memory_bytes
  failed = tumit_start_c(texts, lengths, memory)
  if (present(error)) error = failed
end subroutine tumit_start

!> Writes all records of all threads so far. The end of the program does this automatically.
subroutine tumit_flush()
  call tumit_flush_c()
end subroutine tumit_flush

!> Writes the records of the levels that overwrite, of all threads, oldest first. These levels
!! continue to record, into empty buffers.
subroutine tumit_dump()
  call tumit_dump_c()
end subroutine tumit_dump

!> Ends the trace before the program ends: writes all records, and drops later ones.
subroutine tumit_finish()
  call tumit_finish_c()
end subroutine tumit_finish

!> Switches all levels off, until tumit_resume(). Switches during the pause take effect after it.
subroutine tumit_pause()
  call tumit_pause_c()
end subroutine tumit_pause

!> Ends a pause.
subroutine tumit_resume()
  call tumit_resume_c()
end subroutine tumit_resume

!> Statistics of the recorder.
subroutine tumit_get_stats(stats)
  type(tumit_stats), intent(out) :: stats
  call tumit_get_stats_c(stats)
end subroutine tumit_get_stats

!> Switches a level (`APP`, or `TRACE.APP`) while the program runs. `found` is the number of
!! levels with this name.
subroutine tumit_set_level(name, on, found)
  character(len=*), intent(in) :: name
  logical, intent(in) :: on
  integer, intent(out), optional :: found
  integer(c_int) :: levels
  levels = tumit_set_level_c(name, len(name, c_size_t), merge(1_c_int, 0_c_int, on))
  if (present(found)) found = levels
end subroutine tumit_set_level

!> Names the calling thread in the trace.
subroutine tumit_set_thread_name(name)
  character(len=*), intent(in) :: name
  call tumit_set_thread_name_c(name, len(name, c_size_t))
end subroutine tumit_set_thread_name

subroutine tumit_set_stream_label(label)
  character(len=*), intent(in) :: label
  call tumit_set_stream_label_c(label, len(label, c_size_t))
end subroutine tumit_set_stream_label

!> Sets the clock `ticks` for timestamps, instead of the processor's clock. It has `hz` ticks per
!! second, and must never run backwards. Must be called before the first record. Otherwise `error`
!! is not 0. `domain` names the clock: processes with the same clock name need no correction.
subroutine tumit_set_clock(ticks, hz, domain, error)
  procedure(tumit_clock) :: ticks
  integer(c_int64_t), intent(in) :: hz
  character(len=*), intent(in) :: domain
  integer, intent(out), optional :: error
  integer(c_int) :: failed
  failed = tumit_set_clock_c(c_funloc(ticks), hz, domain, len(domain, c_size_t))
  if (present(error)) error = failed
end subroutine tumit_set_clock

!> For programs with a call of MPI_Init in another place, such as a library. To be called after
!! MPI_Init, in all processes. Without -DTUMIT_MPI, this procedure and the next three do nothing.
subroutine tumit_mpi_start()
  call tumit_mpi_start_c()
end subroutine tumit_mpi_start

!> Takes further samples of all clocks. To be called in all processes.
subroutine tumit_mpi_sync()
  call tumit_mpi_sync_c()
end subroutine tumit_mpi_sync

!> Takes samples if the last ones are older than a minute (TUMIT_SYNC_SECONDS). To be called in
!! all processes, for example in an outer loop.
subroutine tumit_mpi_sync_point()
  call tumit_mpi_sync_point_c()
end subroutine tumit_mpi_sync_point

!> For programs with a call of MPI_Finalize in another place. To be called before it, in all
!! processes.
subroutine tumit_mpi_finish()
  call tumit_mpi_finish_c()
end subroutine tumit_mpi_finish
