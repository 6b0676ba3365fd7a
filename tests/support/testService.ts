// A small server for tests of processes; MODE makes it misbehave.
import { createServer } from "node:http";

const { PORT, MODE, SECRET_VALUE, GREETING = "hello" } = process.env;

if (MODE === "exit") {
  console.error(`cannot go on with ${SECRET_VALUE}`);
  process.exit(3);
}
if (MODE === "stubborn") process.on("SIGTERM", () => console.log("not yet"));
const server = createServer((request, response) => {
  if (request.url === "/-/environment") response.end(JSON.stringify(process.env));
  else response.writeHead(MODE === "sick" ? 503 : 200).end(GREETING);
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening, told ${SECRET_VALUE}`));
