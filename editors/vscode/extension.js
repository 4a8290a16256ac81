// Starts `swzverify lsp`. Everything else is in the server.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const [command, ...args] = workspace.getConfiguration("swzverify").get("command");
  const documentSelector = [
    { scheme: "file", pattern: "**/*.swz.{yaml,yml}" },
    { scheme: "file", language: "cuda-cpp" },
    { scheme: "file", language: "cpp" },
    { scheme: "file", language: "python" },
  ];
  client = new LanguageClient("swzverify", { command, args }, { documentSelector });
  return client.start();
};

exports.deactivate = () => client?.stop();
