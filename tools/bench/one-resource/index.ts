import * as pulumi from "@pulumi/pulumi";

const provider: pulumi.dynamic.ResourceProvider = {
  create: async () => ({ id: "one" }),
};

new (class One extends pulumi.dynamic.Resource {})(provider, "one", {});
