import { UserError } from "../../clients/errors.ts";

/** Runs work that writes below `folder`, and says so plainly when the disk is full. */
export async function namingFullDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    throw new UserError(`The disk that holds ${folder} is full. Free some space and run it again; nothing is lost.`, {
      cause: error,
    });
  }
}
