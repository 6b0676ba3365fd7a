import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { Faults } from "../../../emulators/faults.ts";
import type { Container, ContainerSpec, Log, Runtime } from "../../../emulators/railway/runtime.ts";
import { startRailway, type Railway, type RailwayOptions } from "../../../emulators/railway/server.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";

export const TOKEN = "account-token-of-the-test";
export const WORKSPACE = "11111111-2222-4333-8444-555555555555";

/** A container that does what the test has it do. */
export interface ScriptedContainer {
  readonly spec: ContainerSpec;
  /** HTTP status of its health check; undefined while nothing answers. */
  health: number | undefined;
  readonly exit: (code: number) => void;
  say: Log;
  isRunning: boolean;
  /** The draining seconds with which it was told to end. */
  stoppedWith?: number;
}

/** Runs nothing: containers start at once and live until the test or the emulator ends them. */
export class ScriptedRuntime implements Runtime {
  readonly containers: ScriptedContainer[] = [];
  /** Of each container that starts from now on: whether it answers, and with which code it ends at once. */
  behaviour: (spec: ContainerSpec) => { health?: number; exitCode?: number } = () => ({ health: 200 });

  start(spec: ContainerSpec, log: Log): Promise<Container> {
    if (spec.image.includes("no-such-image")) {
      return Promise.reject(new Error(`manifest for ${spec.image} not found: manifest unknown`));
    }
    const ended = Promise.withResolvers<{ exitCode: number }>();
    const { health, exitCode } = this.behaviour(spec);
    const scripted: ScriptedContainer = {
      spec,
      health,
      isRunning: true,
      exit(code) {
        scripted.isRunning = false;
        ended.resolve({ exitCode: code });
      },
      say: log,
    };
    this.containers.push(scripted);
    log(`${spec.serviceName} starts`);
    if (exitCode !== undefined) scripted.exit(exitCode);
    return Promise.resolve({
      finished: ended.promise,
      stop(seconds) {
        if (scripted.isRunning) scripted.stoppedWith = seconds;
        scripted.exit(143);
        return Promise.resolve();
      },
      probe: () => Promise.resolve(scripted.health),
    });
  }

  find(): Promise<Container | undefined> {
    return Promise.resolve(undefined);
  }

  close(): Promise<void> {
    for (const { exit } of this.containers) exit(143);
    return Promise.resolve();
  }

  /** The container started last of a service. */
  last(serviceName: string): ScriptedContainer {
    const found = this.containers.findLast(({ spec }) => spec.serviceName === serviceName);
    if (found === undefined) throw new Error(`no container of ${serviceName}`);
    return found;
  }
}

export interface TestRailway extends Railway {
  readonly runtime: ScriptedRuntime;
  /** Sends a document as the account. The data; an error becomes one with Railway's words. */
  call<Data = Record<string, unknown>>(query: string, variables?: object): Promise<Data>;
  send(headers: Record<string, string>, body: object): Promise<{ status: number; body: Answer; headers: object }>;
  /** A project with its default environment, as most tests begin. */
  project(): Promise<{ projectId: string; environmentId: string }>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

export async function startTestRailway(options: Partial<RailwayOptions> = {}): Promise<TestRailway> {
  const scratch: Scratch = await makeScratch();
  const directory = join(scratch.state, "railway");
  await mkdir(directory, { recursive: true });
  const runtime = new ScriptedRuntime();
  const railway = await startRailway({
    directory,
    token: TOKEN,
    workspaceId: WORKSPACE,
    runtime,
    removeData: (folder) => rm(folder, { recursive: true, force: true }),
    faults: new Faults(),
    delays: { visible: 20, backup: 20, restart: 1, volumeDeletion: 50, probe: 5 },
    ...options,
  });
  const send: TestRailway["send"] = async (headers, body) => {
    const answer = await request(railway.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Answer, headers: answer.headers };
  };
  const call: TestRailway["call"] = async <Data>(query: string, variables: object = {}) => {
    const { body } = await send({ authorization: `Bearer ${TOKEN}` }, { query, variables });
    if (body.errors !== undefined) throw new Error(body.errors.map(({ message }) => message).join("; "));
    return body.data as Data;
  };
  return Object.assign(railway, {
    runtime,
    send,
    call,
    async project() {
      const { projectCreate } = await call<{ projectCreate: { id: string; primaryEnvironmentId: string } }>(
        "mutation ($input: ProjectCreateInput!) { projectCreate(input: $input) { id primaryEnvironmentId } }",
        { input: { name: `project ${randomUUID()}`, workspaceId: WORKSPACE } },
      );
      return { projectId: projectCreate.id, environmentId: projectCreate.primaryEnvironmentId };
    },
    async stop() {
      await railway.close({ stop: true });
      await scratch.remove();
    },
  });
}
