/** How the SDK (seen with 3.276) words the failure of a call to an engine that has hung up. */
const HUNG_UP = "Resource monitor is terminating";

/**
 * When a resource fails, the engine says so and hangs up. The SDK then reports each call that was on its way as an
 * unhandled exception of the program, stack and all, below the reason that counts. Those are left out here; everything
 * else that nobody has caught goes where it went before.
 */
export function ignoreHangUp(): void {
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (reason, promise) => {
    if (reason instanceof Error && reason.message.endsWith(HUNG_UP)) return;
    for (const listener of listeners) listener(reason, promise);
  });
}
