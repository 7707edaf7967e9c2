// Counts the messages of logs by @mcap/core: for each line `stream LOG` or `indexed LOG` of its input, a line of output.
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";
import fs from "fs";
import readline from "readline";

const decompressHandlers = { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) };

function stream(data) {
  let messages = 0;
  const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  reader.append(data);
  for (let record; (record = reader.nextRecord()); ) messages += record.type === "Message" ? 1 : 0;
  return `${messages} ${reader.done() ? "done" : "cut"}`;
}

async function indexed(data) {
  let messages = 0;
  const readable = {
    size: async () => BigInt(data.length),
    read: async (offset, size) => new Uint8Array(data.buffer, data.byteOffset + Number(offset), Number(size)),
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  let last = -1n;
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    if (message.logTime < last) throw new Error("messages out of order");
    last = message.logTime;
    messages++;
  }
  if (reader.statistics.messageCount !== BigInt(messages)) throw new Error("the statistics say another number");
  for await (const attachment of reader.readAttachments({ validateCrcs: true }))
    if (!attachment.data.length) throw new Error(`${attachment.name} is empty`);
  const names = [];
  for await (const metadata of reader.readMetadata()) names.push(metadata.name);
  if (!names.includes("orrery") || !names.includes("machine")) throw new Error(`metadata: ${names}`);
  return `${messages} done`;
}

const judges = { stream, indexed };
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [, how, path] = line.match(/^(\w+) (.*)$/);
  try {
    console.log(await judges[how](fs.readFileSync(path)));
  } catch (error) {
    console.log(`failed: ${error.message.replaceAll("\n", " ")}`);
  }
}
