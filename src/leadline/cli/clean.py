"""`leadline clean`: removes builds, caches and what killed runs left behind."""

import click


@click.command()
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
def command(*, dry_run: bool) -> None:
    """Remove builds, caches, and scratch directories of killed runs.

    Runs, reports and installed MPIs are kept, and so is what a running process uses. The next run builds its
    programs again, which takes minutes.
    """
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.core.units import rounded_bytes  # noqa: PLC0415
    from leadline.native import leftovers  # noqa: PLC0415

    total = 0
    for path in leftovers.leftovers():
        size = leftovers.size(path)
        if not dry_run:
            try:
                leftovers.remove(path)
            except OSError as problem:
                raise LeadlineError(f"cannot remove {path}: {problem.strerror}") from problem
        total += size
        click.echo(f"{path}  {rounded_bytes(size)}")
    click.echo(f"{'would remove' if dry_run else 'removed'} {rounded_bytes(total)}")
