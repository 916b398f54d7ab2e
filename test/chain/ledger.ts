// The tests' contract: its source, its ABI, and its bytecode from solc 0.8.37 (optimizer on with 1 run, for Paris, without
// metadata).

/*
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.0;

contract Ledger {
    struct Entry { address by; uint256 amount; }
    error TooMuch(uint256 wanted, uint256 limit);

    uint256 public total;
    uint256 public limit = 1000;
    mapping(address => uint256) public paid;

    function add(uint256 amount) external {
        if (total + amount > limit) revert TooMuch(amount, limit);
        total += amount;
    }
    function addOnce(uint256 expected, uint256 amount) external {
        require(total == expected, "total has changed");
        total += amount;
    }
    function addMany(Entry[] calldata entries) external {
        for (uint256 i = 0; i < entries.length; i++) {
            total += entries[i].amount;
            paid[entries[i].by] += entries[i].amount;
        }
    }
    function pay() external payable { paid[msg.sender] += msg.value; }
    function store(uint256 amount) external { total = amount; }
    function store(string calldata text) external { total = bytes(text).length; }
    function burn(uint256 rounds) external {
        uint256 sum = 0;
        for (uint256 i = 0; i < rounds; i++) { sum += uint256(keccak256(abi.encode(i, sum))) % 7; }
        total = sum;
    }
    function fail() external pure { assert(false); }
    function huge() external pure returns (uint256) { return type(uint256).max; }
    function summary() external view returns (uint256 sum, Entry memory last, bytes3 tag, int64[] memory signs) {
        signs = new int64[](2);
        signs[0] = -5;
        signs[1] = 5;
        return (total, Entry(address(this), total), 0x010203, signs);
    }
}
*/

export const ledgerAbi = [
  {
    inputs: [
      { internalType: "uint256", name: "wanted", type: "uint256" },
      { internalType: "uint256", name: "limit", type: "uint256" },
    ],
    name: "TooMuch",
    type: "error",
  },
  {
    inputs: [{ internalType: "uint256", name: "amount", type: "uint256" }],
    name: "add",
    outputs: [],
    stateMutability: "nonpayable",
    type: "function",
  },
  {
    inputs: [
      {
        components: [
          { internalType: "address", name: "by", type: "address" },
          { internalType: "uint256", name: "amount", type: "uint256" },
        ],
        internalType: "struct Ledger.Entry[]",
        name: "entries",
        type: "tuple[]",
      },
    ],
    name: "addMany",
    outputs: [],
    stateMutability: "nonpayable",
    type: "function",
  },
  {
    inputs: [
      { internalType: "uint256", name: "expected", type: "uint256" },
      { internalType: "uint256", name: "amount", type: "uint256" },
    ],
    name: "addOnce",
    outputs: [],
    stateMutability: "nonpayable",
    type: "function",
  },
  {
    inputs: [{ internalType: "uint256", name: "rounds", type: "uint256" }],
    name: "burn",
    outputs: [],
    stateMutability: "nonpayable",
    type: "function",
  },
  { inputs: [], name: "fail", outputs: [], stateMutability: "pure", type: "function" },
  {
    inputs: [],
    name: "huge",
    outputs: [{ internalType: "uint256", name: "", type: "uint256" }],
    stateMutability: "pure",
    type: "function",
  },
  {
    inputs: [],
    name: "limit",
    outputs: [{ internalType: "uint256", name: "", type: "uint256" }],
    stateMutability: "view",
    type: "function",
  },
  {
    inputs: [{ internalType: "address", name: "", type: "address" }],
    name: "paid",
    outputs: [{ internalType: "uint256", name: "", type: "uint256" }],
    stateMutability: "view",
    type: "function",
  },
  { inputs: [], name: "pay", outputs: [], stateMutability: "payable", type: "function" },
  {
    inputs: [{ internalType: "string", name: "text", type: "string" }],
    name: "store",
    outputs: [],
    stateMutability: "nonpayable",
    type: "function",
  },
  {
    inputs: [{ internalType: "uint256", name: "amount", type: "uint256" }],
    name: "store",
    outputs: [],
    stateMutability: "nonpayable",
    type: "function",
  },
  {
    inputs: [],
    name: "summary",
    outputs: [
      { internalType: "uint256", name: "sum", type: "uint256" },
      {
        components: [
          { internalType: "address", name: "by", type: "address" },
          { internalType: "uint256", name: "amount", type: "uint256" },
        ],
        internalType: "struct Ledger.Entry",
        name: "last",
        type: "tuple",
      },
      { internalType: "bytes3", name: "tag", type: "bytes3" },
      { internalType: "int64[]", name: "signs", type: "int64[]" },
    ],
    stateMutability: "view",
    type: "function",
  },
  {
    inputs: [],
    name: "total",
    outputs: [{ internalType: "uint256", name: "", type: "uint256" }],
    stateMutability: "view",
    type: "function",
  },
] as const;

export const ledgerBytecode = [
  "0x60806040526103e8600155348015601557600080fd5b50610720806100256000396000f3fe6080604052600436106100a2",
  "5760003560e01c80631003e2d2146100a7578063131a0680146100c95780631b9265b8146100ea5780632ddbd13a146100f2",
  "5780633ba5a43a1461011b57806342966c681461013b5780634a9b3e8e1461015b5780636057361d14610170578063a340cf",
  "7914610190578063a4d66daf146101bd578063a9cc4718146101d3578063b16a867c146101e8578063c2254e031461020d57",
  "5b600080fd5b3480156100b357600080fd5b506100c76100c23660046104ec565b61022d565b005b3480156100d557600080",
  "fd5b506100c76100e4366004610505565b60005550565b6100c761028d565b3480156100fe57600080fd5b50610108600054",
  "81565b6040519081526020015b60405180910390f35b34801561012757600080fd5b506100c7610136366004610577565b61",
  "02b3565b34801561014757600080fd5b506100c76101563660046104ec565b610312565b34801561016757600080fd5b5060",
  "0019610108565b34801561017c57600080fd5b506100c761018b3660046104ec565b600055565b34801561019c57600080fd",
  "5b506101086101ab366004610599565b60026020526000908152604090205481565b3480156101c957600080fd5b50610108",
  "60015481565b3480156101df57600080fd5b506100c761036d565b3480156101f457600080fd5b506101fd610377565b6040",
  "5161011294939291906105c9565b34801561021957600080fd5b506100c7610228366004610646565b610426565b60015481",
  "60005461023e91906106ab565b111561027457600154604051636073b21f60e01b815261026b918391600401918252602082",
  "015260400190565b60405180910390fd5b8060008082825461028591906106ab565b909155505050565b3360009081526002",
  "6020526040812080543492906102ac9084906106ab565b9091555050565b81600054146102f85760405162461bcd60e51b81",
  "526020600482015260116024820152701d1bdd185b081a185cc818da185b99d959607a1b604482015260640161026b565b80",
  "60008082825461030991906106ab565b90915550505050565b6000805b828110156103665760408051602080820184905281",
  "830185905282518083038401815260609092019092528051910120610352906007906106d2565b61035c90836106ab565b91",
  "50600101610316565b5060005550565b6103756106f4565b565b604080518082018252600080825260208083018290528351",
  "600280825260608083018752939586949383019080368337019050509050600419816000815181106103c3576103c361070a",
  "565b602002602001019060070b908160070b815250506005816001815181106103ec576103ec61070a565b60079290920b60",
  "209283029190910182015260005460408051808201909152308152918201819052959094506201020360e81b935090915056",
  "5b60005b818110156104e7578282828181106104435761044361070a565b9050604002016020013560008082825461045d91",
  "906106ab565b9091555083905082828181106104755761047561070a565b9050604002016020013560026000858585818110",
  "6104955761049561070a565b6104ab9260206040909202019081019150610599565b6001600160a01b03166001600160a01b",
  "0316815260200190815260200160002060008282546104da91906106ab565b9091555050600101610429565b505050565b60",
  "00602082840312156104fe57600080fd5b5035919050565b6000806020838503121561051857600080fd5b82356001600160",
  "401b0381111561052e57600080fd5b8301601f8101851361053f57600080fd5b80356001600160401b038111156105555760",
  "0080fd5b85602082840101111561056757600080fd5b6020919091019590945092505050565b600080604083850312156105",
  "8a57600080fd5b50508035926020909101359150565b6000602082840312156105ab57600080fd5b81356001600160a01b03",
  "811681146105c257600080fd5b9392505050565b84815283516001600160a01b031660208083019190915280850151604083",
  "01526001600160e81b03198416606083015260a060808301819052835190830181905260009184019060c0840190835b8181",
  "101561063857835160070b835260209384019390920191600101610617565b509098975050505050505050565b6000806020",
  "838503121561065957600080fd5b82356001600160401b0381111561066f57600080fd5b8301601f81018513610680576000",
  "80fd5b80356001600160401b0381111561069657600080fd5b8560208260061b840101111561056757600080fd5b80820180",
  "8211156106cc57634e487b7160e01b600052601160045260246000fd5b92915050565b6000826106ef57634e487b7160e01b",
  "600052601260045260246000fd5b500690565b634e487b7160e01b600052600160045260246000fd5b634e487b7160e01b60",
  "0052603260045260246000fd",
].join("") as `0x${string}`;
