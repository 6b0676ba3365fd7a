import { ignoreHangUp } from "../../providers/hangUp.ts";

const before = process.listeners("unhandledRejection");

afterEach(() => {
  process.removeAllListeners("unhandledRejection");
  for (const listener of before) process.on("unhandledRejection", listener);
});

test("only the calls cut off by the engine are left out of what nobody has caught", () => {
  process.removeAllListeners("unhandledRejection");
  const reported: unknown[] = [];
  process.on("unhandledRejection", (reason) => reported.push(reason));
  ignoreHangUp();

  const cutOff = new Error("Resource monitor is terminating");
  const cutOffToo = new Error("failed to register new resource ports [local:Ports]: Resource monitor is terminating");
  const ours = new Error("the program has a mistake");
  for (const reason of [cutOff, ours, cutOffToo, "text"]) {
    process.emit("unhandledRejection", reason, Promise.resolve());
  }
  expect(reported).toEqual([ours, "text"]);
});
