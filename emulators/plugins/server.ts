import {
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type ServiceError,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import engineServices from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineMessages from "@pulumi/pulumi/proto/engine_pb.js";
import pluginMessages from "@pulumi/pulumi/proto/plugin_pb.js";
import services from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import statusMessages from "@pulumi/pulumi/proto/status_pb.js";
import any from "google-protobuf/google/protobuf/any_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import struct from "google-protobuf/google/protobuf/struct_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import {
  InitializationError,
  type CheckFailure,
  type DiffResponse,
  type Log,
  type Plugin,
  type Properties,
} from "./protocol.ts";

/**
 * Serves a plugin to the engine that started this process: prints the port, and ends with the engine, even one that was
 * killed.
 */
export async function servePlugin(make: (log: Log) => Plugin): Promise<void> {
  const [engineAddress] = process.argv.slice(2).filter((word) => !word.startsWith("-"));
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  server.addService(services.ResourceProviderService, handlersOf(make(logTo(engineAddress))));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const engine = process.ppid;
  setInterval(() => {
    if (process.ppid !== engine) process.exit(0);
  }, 1000).unref();
  process.stdout.write(`${port}\n`);
}

function logTo(address: string | undefined): Log {
  if (address === undefined) return async (severity, message) => console.error(`${severity}: ${message}`);
  const client = new engineServices.EngineClient(address, credentials.createInsecure());
  const { INFO, WARNING, ERROR } = engineMessages.LogSeverity;
  const severities = { info: INFO, warning: WARNING, error: ERROR };
  return (severity, message, urn = "") => {
    const request = new engineMessages.LogRequest();
    request.setSeverity(severities[severity]);
    request.setMessage(message);
    request.setUrn(urn);
    return new Promise((resolve, reject) =>
      client.log(request, (error: Error | null) => (error === null ? resolve() : reject(error))),
    );
  };
}

/** What is left out here, such as Handshake, is answered with `Unimplemented`, which the engine accepts. */
function handlersOf(plugin: Plugin): UntypedServiceImplementation {
  return {
    getPluginInfo: unary(async () => new pluginMessages.PluginInfo().setVersion(plugin.version)),
    checkConfig: unary(async (request: InstanceType<typeof messages.CheckRequest>) => {
      const { inputs, failures } = plugin.checkConfig({ ...of(request), ...oldsAndNews(request) });
      return new messages.CheckResponse().setInputs(toStruct(inputs)).setFailuresList(toFailures(failures));
    }),
    ...(plugin.diffConfig !== undefined && {
      diffConfig: unary(async (request: InstanceType<typeof messages.DiffRequest>) =>
        toDiff(plugin.diffConfig?.({ ...of(request), ...oldsAndNews(request) }) ?? {}),
      ),
    }),
    configure: unary(async (request: InstanceType<typeof messages.ConfigureRequest>) => {
      const reply = plugin.configure({ args: fromStruct(request.getArgs()) });
      return new messages.ConfigureResponse()
        .setAcceptsecrets(reply.acceptSecrets ?? false)
        .setSupportspreview(reply.supportsPreview ?? false)
        .setAcceptresources(reply.acceptResources ?? false)
        .setAcceptoutputs(reply.acceptOutputs ?? false)
        .setSupportsAutonamingConfiguration(reply.supportsAutonamingConfiguration ?? false);
    }),
    check: unary(async (request: InstanceType<typeof messages.CheckRequest>) => {
      const { inputs, failures } = await plugin.check({ ...of(request), ...oldsAndNews(request) });
      return new messages.CheckResponse().setInputs(toStruct(inputs)).setFailuresList(toFailures(failures));
    }),
    diff: unary(async (request: InstanceType<typeof messages.DiffRequest>) => {
      const oldInputs = fromStruct(request.getOldInputs());
      return toDiff(await plugin.diff({ ...of(request), id: request.getId(), ...oldsAndNews(request), oldInputs }));
    }),
    create: unary(async (request: InstanceType<typeof messages.CreateRequest>) => {
      const properties = fromStruct(request.getProperties());
      const made = await plugin.create({ ...of(request), properties, preview: request.getPreview() });
      return new messages.CreateResponse().setId(made.id ?? "").setProperties(toStruct(made.properties));
    }),
    read: unary(async (request: InstanceType<typeof messages.ReadRequest>) => {
      const properties = fromStruct(request.getProperties());
      const inputs = fromStruct(request.getInputs());
      const found = await plugin.read({ ...of(request), id: request.getId(), properties, inputs });
      return new messages.ReadResponse()
        .setId(found.id ?? "")
        .setProperties(toStruct(found.properties))
        .setInputs(toStruct(found.inputs));
    }),
    update: unary(async (request: InstanceType<typeof messages.UpdateRequest>) => {
      const oldInputs = fromStruct(request.getOldInputs());
      const rest = { id: request.getId(), ...oldsAndNews(request), oldInputs, preview: request.getPreview() };
      const { properties } = await plugin.update({ ...of(request), ...rest });
      return new messages.UpdateResponse().setProperties(toStruct(properties));
    }),
    delete: unary(async (request: InstanceType<typeof messages.DeleteRequest>) => {
      await plugin.delete({ ...of(request), id: request.getId(), properties: fromStruct(request.getProperties()) });
      return new empty.Empty();
    }),
    invoke: unary(async (request: InstanceType<typeof messages.InvokeRequest>) => {
      const args = fromStruct(request.getArgs());
      const answer = await plugin.invoke({ tok: request.getTok(), args, preview: request.getPreview() });
      return new messages.InvokeResponse()
        .setReturn(toStruct(answer.return ?? {}))
        .setFailuresList(toFailures(answer.failures));
    }),
    cancel: unary(async () => new empty.Empty()),
  };
}

function unary<Request, Response>(handle: (request: Request) => Promise<Response>): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    handle(call.request).then(
      (response) => callback(null, response),
      (error: unknown) => callback(toFailure(error)),
    );
  };
}

function toFailure(error: unknown): Partial<ServiceError> {
  const details = error instanceof Error ? error.message : String(error);
  if (!(error instanceof InitializationError)) return { code: status.UNKNOWN, details };
  const made = new messages.ErrorResourceInitFailed()
    .setId(error.id)
    .setProperties(toStruct(error.properties))
    .setReasonsList([details]);
  const packed = new any.Any();
  packed.pack(made.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const answer = new statusMessages.Status().setCode(status.UNKNOWN).setMessage(details).setDetailsList([packed]);
  // In this field gRPC carries what is more than a text.
  const metadata = new Metadata();
  metadata.add("grpc-status-details-bin", Buffer.from(answer.serializeBinary()));
  return { code: status.UNKNOWN, details, metadata };
}

interface Named {
  getUrn(): string;
  getName(): string;
  getType(): string;
}

function of(request: Named): { urn: string; name: string; type: string } {
  // An engine that names neither has both in the URN: urn:pulumi:<stack>::<project>::<parents$type>::<name>.
  const [type = "", name = ""] = request.getUrn().split("::").slice(2);
  return {
    urn: request.getUrn(),
    name: request.getName() || name,
    type: request.getType() || type.slice(type.lastIndexOf("$") + 1),
  };
}

function oldsAndNews(request: { getOlds(): Struct | undefined; getNews(): Struct | undefined }): {
  olds: Properties;
  news: Properties;
} {
  return { olds: fromStruct(request.getOlds()), news: fromStruct(request.getNews()) };
}

function fromStruct(properties: Struct | undefined): Properties {
  return properties?.toJavaScript() ?? {};
}

/** What is undefined is left out, as JSON does. */
function toStruct(properties: Properties): Struct {
  return struct.Struct.fromJavaScript(
    JSON.parse(JSON.stringify(properties)) as Parameters<typeof struct.Struct.fromJavaScript>[0],
  );
}

function toFailures(failures: CheckFailure[] = []): InstanceType<typeof messages.CheckFailure>[] {
  return failures.map(({ property = "", reason }) =>
    new messages.CheckFailure().setProperty(property).setReason(reason),
  );
}

function toDiff(diff: DiffResponse): InstanceType<typeof messages.DiffResponse> {
  const { DIFF_UNKNOWN, DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
  const { ADD, ...kinds } = messages.PropertyDiff.Kind;
  const response = new messages.DiffResponse()
    .setChanges(diff.changes === undefined ? DIFF_UNKNOWN : { DIFF_NONE, DIFF_SOME }[diff.changes])
    .setDiffsList(diff.diffs ?? [])
    .setReplacesList(diff.replaces ?? [])
    .setStablesList(diff.stables ?? [])
    .setDeletebeforereplace(diff.deleteBeforeReplace ?? false)
    .setHasdetaileddiff(diff.hasDetailedDiff ?? false);
  for (const [name, { kind, inputDiff = false }] of Object.entries(diff.detailedDiff ?? {})) {
    const detail = new messages.PropertyDiff().setInputdiff(inputDiff);
    response.getDetaileddiffMap().set(name, detail.setKind(kind === undefined ? ADD : kinds[kind]));
  }
  return response;
}
