/** The plugin by which opencode asks memory: a file of its own, without dependencies. */

/** `words` are the command line of a hook. */
export function opencodePlugin(words: readonly string[]): string {
  return `// Written by "backscroll setup"; "backscroll setup opencode --remove" deletes it.
import { spawn } from "node:child_process";

const [program, ...words] = ${JSON.stringify(words)};

/** What memory says in a moment; empty if it is silent or fails. */
function ask(payload) {
  return new Promise((resolve) => {
    const hook = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], timeout: 2000 });
    let said = "";
    hook.stdout.on("data", (chunk) => {
      said += chunk;
    });
    hook.on("error", () => resolve(""));
    hook.on("close", () => {
      try {
        resolve(JSON.parse(said).text);
      } catch {
        resolve("");
      }
    });
    hook.stdin.on("error", () => {});
    hook.stdin.end(JSON.stringify(payload));
  });
}

export const Backscroll = async ({ directory }) => {
  const started = new Map();
  const begin = (sessionID) => {
    if (!started.has(sessionID)) {
      started.set(sessionID, ask({ event: "SessionStart", sessionID, directory }));
    }
    return started.get(sessionID);
  };
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\\n");
      const said = await ask({ event: "chat.message", sessionID, directory, text });
      if (!said) return;
      const id = \`prt_\${Date.now().toString(16)}\${Math.random().toString(16).slice(2)}\`;
      const place = { sessionID, messageID: message.id };
      parts.push({ id, ...place, type: "text", text: said, synthetic: true });
    },
    "tool.execute.after": async ({ tool, sessionID, args }, result) => {
      const { output, metadata } = result;
      const event = "tool.execute.after";
      const said = await ask({ event, tool, args, sessionID, directory, metadata, output });
      if (said) result.output = \`\${output}\\n\${said}\`;
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const said = await begin(sessionID);
      if (said) system.push(said);
    },
  };
};
`;
}
