// Checks the types of axiommind.ts, and runs its tests against the server of AXIOMMIND_URL and AXIOMMIND_TOKEN.
// npm's packages and the compiled files go to AXIOMMIND_TEST_DIR, or to a temporary directory that is removed at the end.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const given = process.env.AXIOMMIND_TEST_DIR;
const directory = given || mkdtempSync(join(tmpdir(), "axiommind-ts-"));

function run(command, ...args) {
  execFileSync(command, args, { cwd: directory, stdio: "inherit", shell: process.platform === "win32" });
}

try {
  mkdirSync(directory, { recursive: true });
  for (const file of ["package.json", "tsconfig.json", "axiommind.ts", "axiommind.test.ts"]) {
    copyFileSync(new URL(file, import.meta.url), join(directory, file));
  }
  try {
    run("npm", "install", "--silent", "--no-audit", "--no-fund");
  } catch {
    console.error("npm cannot install the compiler: the client is not tested");
    process.exit(69);
  }
  run("npx", "tsc");
  run("node", "--test", "--test-reporter=spec", "axiommind.test.js");
} catch (error) {
  process.exitCode = error.status || 1; // The command has said why.
  if (!error.status) console.error(error);
} finally {
  if (!given) rmSync(directory, { recursive: true, force: true });
}
