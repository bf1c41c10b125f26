/** The page: `useChat` with resumed answers, versions of messages, and a list of chats. */

import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";

interface ListedChat {
  readonly id: string;
  readonly title: string;
}

interface Version {
  readonly message: UIMessage;
  readonly entryId: string;
  readonly active: boolean;
}

async function api<Result>(path: string, method = "GET"): Promise<Result> {
  const response = await fetch(`/api/${path}`, { method });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return (await response.json()) as Result;
}

/** The last message alone is sent: the server has the others. */
const transport = new DefaultChatTransport<UIMessage>({
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
    body: {
      id,
      trigger,
      messageId,
      ...(trigger === "submit-message" && { message: messages.at(-1) }),
    },
  }),
});

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function App() {
  const [list, setList] = useState<readonly ListedChat[]>([]);
  const [id, setId] = useState(() => location.hash.slice(1) || crypto.randomUUID());
  const [initial, setInitial] = useState<UIMessage[]>();
  const refresh = async () => setList(await api("chats"));
  useEffect(() => {
    location.hash = id;
    setInitial(undefined);
    void api<UIMessage[]>(`chats/${id}`).then(setInitial);
    void refresh();
  }, [id]);
  return (
    <>
      <nav>
        <button type="button" onClick={() => setId(crypto.randomUUID())}>
          New chat
        </button>
        {list.map((chat) => (
          <button
            type="button"
            key={chat.id}
            aria-current={chat.id === id}
            onClick={() => setId(chat.id)}
          >
            {chat.title}
          </button>
        ))}
      </nav>
      {initial && <Chat key={id} id={id} initial={initial} onEnd={refresh} />}
    </>
  );
}

interface ChatProps {
  readonly id: string;
  readonly initial: UIMessage[];
  readonly onEnd: () => void;
}

function Chat({ id, initial, onEnd }: ChatProps) {
  const chat = useChat({ id, messages: initial, resume: true, transport, onFinish: onEnd });
  const { messages, sendMessage, regenerate, setMessages, status, error } = chat;
  const [text, setText] = useState("");
  /** The message that is being edited. */
  const [edited, setEdited] = useState<string>();
  const isBusy = status === "submitted" || status === "streaming";
  const send = () => {
    if (text.trim() === "" || isBusy) return;
    void sendMessage({ text, ...(edited && { messageId: edited }) });
    setText("");
    setEdited(undefined);
  };
  const stop = async () => {
    await api(`chat/${id}/stream`, "DELETE");
  };
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} class={message.role}>
          {textOf(message)}
          {!isBusy && (
            <footer>
              {message.role === "user" ? (
                <button
                  type="button"
                  onClick={() => {
                    setEdited(message.id);
                    setText(textOf(message));
                  }}
                >
                  Edit
                </button>
              ) : (
                <button type="button" onClick={() => void regenerate({ messageId: message.id })}>
                  Again
                </button>
              )}
              <Versions chat={id} message={message} onChosen={setMessages} />
            </footer>
          )}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          aria-label="Message"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey) return;
            event.preventDefault();
            send();
          }}
        />
        {isBusy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button type="submit">{edited ? "Change" : "Send"}</button>
        )}
      </form>
    </main>
  );
}

interface VersionsProps {
  readonly chat: string;
  readonly message: UIMessage;
  readonly onChosen: (messages: UIMessage[]) => void;
}

/** `‹ 1 of 2 ›`, where a message has more than one version. */
function Versions({ chat, message, onChosen }: VersionsProps) {
  const [versions, setVersions] = useState<readonly Version[]>([]);
  useEffect(() => {
    void api<Version[]>(`chats/${chat}/versions/${message.id}`).then(setVersions);
  }, [chat, message]);
  const at = versions.findIndex(({ active }) => active);
  if (versions.length < 2) return null;
  const choose = (to: number) => {
    const wanted = versions[to];
    if (wanted)
      void api<UIMessage[]>(`chats/${chat}/choose/${wanted.entryId}`, "POST").then(onChosen);
  };
  return (
    <span>
      <button
        type="button"
        aria-label="Previous version"
        disabled={at === 0}
        onClick={() => choose(at - 1)}
      >
        ‹
      </button>
      {` ${at + 1} of ${versions.length} `}
      <button
        type="button"
        aria-label="Next version"
        disabled={at === versions.length - 1}
        onClick={() => choose(at + 1)}
      >
        ›
      </button>
    </span>
  );
}

const root = document.getElementById("chat");
if (root) {
  root.style.display = "contents";
  render(<App />, root);
}
