// Counts the messages of a log by @mcap/core: node read.mjs stream|indexed LOG
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";
import fs from "fs";

const [how, path] = process.argv.slice(2);
const data = fs.readFileSync(path);
const decompressHandlers = { zstd: (bytes, size) => decompress(bytes, new Uint8Array(Number(size))) };
let messages = 0;

if (how === "stream") {
  const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  reader.append(data);
  for (let record; (record = reader.nextRecord()); ) messages += record.type === "Message" ? 1 : 0;
  console.log(`${messages} ${reader.done() ? "done" : "cut"}`);
} else {
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
  console.log(`${messages} done`);
}
